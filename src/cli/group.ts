import { withOwnId, type Extensions } from "./contract-commands.ts";

export const extensions: Extensions = {
  create: withOwnId(async () => (await import("./local/own-ids.ts")).createGroupWithId),
};
