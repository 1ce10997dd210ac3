import { bundles } from "./bundles.mjs";

const address = {
  idm: "IDM_URL",
  schulconnex: "SCHULCONNEX_URL",
  "sign-on": "SIGN_ON_URL",
  webhooks: "WEBHOOKS_URL",
};

const make = (name, file, output) => ({
  input: `./bundles/${name}.yaml`,
  output: { mode: "single", target: `clients/orval/${name}/${file}.ts`, ...output },
});
export default Object.fromEntries(
  bundles.flatMap((name) => [
    [name, make(name, "client", { client: "fetch", baseUrl: { runtime: `globalThis.process.env.${address[name]}` } })],
    [`${name}-zod`, make(name, "zod", { client: "zod" })],
  ]),
);
