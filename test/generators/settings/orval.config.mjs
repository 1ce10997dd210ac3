import { bundles } from "./bundles.mjs";

const addressOf = (name) => `${name.toUpperCase().replaceAll(/\W/g, "_")}_URL`;

const make = (name, file, output) => ({
  input: `./bundles/${name}.yaml`,
  output: { mode: "single", target: `clients/orval/${name}/${file}.ts`, ...output },
});
export default Object.fromEntries(
  bundles.flatMap((name) => [
    [name, make(name, "client", { client: "fetch", baseUrl: { runtime: `globalThis.process.env.${addressOf(name)}` } })],
    [`${name}-zod`, make(name, "zod", { client: "zod" })],
  ]),
);
