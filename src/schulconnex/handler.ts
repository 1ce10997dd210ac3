import type { AccessToken } from "../access/index.ts";
import type { Handler } from "../platform/http/index.ts";
import type { operations } from "../../generated/openapi/schulconnex.ts";

export type SchulconnexHandler<Id extends keyof operations> = Handler<operations[Id], AccessToken>;
