import type { z } from "zod";
import { operationOptions } from "./operation.ts";
import { serviceOptions } from "./service.ts";
import { signOnOptions } from "./sign-on.ts";

export const options = { ...serviceOptions, ...signOnOptions, ...operationOptions };

type Options = typeof options;
export type Values = {
  [Name in keyof Options]:
    z.output<Options[Name]["value"]> | (Options[Name] extends { default: string } ? never : undefined);
};
