import type { z } from "zod";
import { serviceOptions } from "./service.ts";
import { databaseOptions } from "./database.ts";
import { listOptions } from "./lists.ts";
import { signOnOptions } from "./sign-on.ts";
import { pageOptions } from "./pages.ts";
import { recordOptions } from "./records.ts";
import { retentionOptions } from "./retention.ts";
import { webhookOptions } from "./webhooks.ts";
import { operationOptions } from "./operations.ts";

export const options = {
  ...serviceOptions,
  ...databaseOptions,
  ...listOptions,
  ...signOnOptions,
  ...pageOptions,
  ...recordOptions,
  ...retentionOptions,
  ...webhookOptions,
  ...operationOptions,
};

type OptionName = keyof typeof options;
export type Values = {
  [Name in OptionName]:
    z.output<(typeof options)[Name]["value"]> | ((typeof options)[Name]["default"] extends null ? undefined : never);
};
