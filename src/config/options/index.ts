import type { z } from "zod";
import type { Option } from "../values.ts";
import { operationOptions } from "./operation.ts";
import { serviceOptions } from "./service.ts";
import { signOnOptions } from "./sign-on.ts";

export const options = { ...serviceOptions, ...signOnOptions, ...operationOptions };

type Options = typeof options;
export type Values = {
  [Name in keyof Options]:
    z.output<Options[Name]["value"]> | (Options[Name] extends { default: string } ? never : undefined);
};

function presentRow([name, option]: [string, Option]): string {
  const standard = option.defaultMeaning ?? `\`${option.default}\``;
  const example = option.example ?? option.default ?? "";
  return `| \`${name}\` | ${standard} | ${option.meaning} | ${example.includes("`") ? example : `\`${example}\``} |`;
}

/** The table of docs/configuration.md. */
export function makeConfigTable(): string {
  const rows = Object.entries<Option>(options).map(presentRow);
  return ["| Variable | Default | Meaning | Example |", "|---|---|---|---|", ...rows].join("\n");
}
