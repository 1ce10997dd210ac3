import { readdirSync } from "node:fs";

export const bundles = readdirSync("bundles").map((file) => file.replace(".yaml", ""));
