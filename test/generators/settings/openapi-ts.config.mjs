import { bundles } from "./bundles.mjs";

export default bundles.map((name) => ({
  input: `./bundles/${name}.yaml`,
  output: { path: `clients/hey-api/${name}` },
  plugins: [
    "@hey-api/typescript",
    "@hey-api/client-fetch",
    { name: "@hey-api/sdk", validator: { response: "zod" } },
    { name: "zod", compatibilityVersion: 4 },
  ],
}));
