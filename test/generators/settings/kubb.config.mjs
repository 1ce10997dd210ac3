import { defineConfig } from "@kubb/core";
import { pluginClient } from "@kubb/plugin-client";
import { pluginOas } from "@kubb/plugin-oas";
import { pluginTs } from "@kubb/plugin-ts";
import { pluginZod } from "@kubb/plugin-zod";
import { bundles } from "./bundles.mjs";

export default defineConfig(
  bundles.map((name) => ({
    name,
    root: ".",
    input: { path: `bundles/${name}.yaml` },
    output: { path: `clients/kubb/${name}`, clean: true, extension: { ".ts": "" }, format: false, lint: false },
    plugins: [
      pluginOas({ generators: [] }),
      pluginTs({ output: { path: "types" } }),
      pluginZod({ output: { path: "zod" }, importPath: "zod/v4", version: "4" }),
      pluginClient({ output: { path: "client" }, client: "fetch", parser: "zod", bundle: true }),
    ],
  })),
);
