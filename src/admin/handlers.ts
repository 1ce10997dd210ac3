import { staffOperations } from "../../generated/openapi/admin-operations.ts";
import type { AdminHandler, OperationId } from "./handler.ts";

type Tag = (typeof staffOperations)[OperationId]["tag"];
type WithTag<T extends Tag> = {
  [Id in OperationId]: (typeof staffOperations)[Id]["tag"] extends T ? Id : never;
}[OperationId];

async function join<Modules extends object[]>(...modules: { [At in keyof Modules]: Promise<Modules[At]> }) {
  return Object.assign({}, ...(await Promise.all(modules))) as Joined<Modules>;
}
type Joined<Modules> = Modules extends [infer First, ...infer Rest] ? First & Joined<Rest> : unknown;

/** Loads the handlers of the operations of each tag; a program that calls one operation loads no others. */
const resources: { [T in Tag]: () => Promise<{ [Id in WithTag<T>]: AdminHandler<Id> }> } = {
  Agreements: () =>
    join(import("./agreement-receipts.ts"), import("./agreements.ts"), import("./school-agreements.ts")),
  Apps: () =>
    join(
      import("./app-answers.ts"),
      import("./app-changes.ts"),
      import("./apps.ts"),
      import("./id-moves.ts"),
      import("./scope-requests.ts"),
      import("./traffic.ts"),
    ),
  Audit: () => import("./audit.ts"),
  "Data requests": () => import("./data-requests.ts"),
  Grants: () =>
    join(import("./app-views.ts"), import("./catalogue.ts"), import("./erasures.ts"), import("./grants.ts")),
  Groups: () => join(import("./groups.ts"), import("./members.ts")),
  Handovers: () => import("./handovers.ts"),
  Imports: () =>
    join(
      import("./import-columns.ts"),
      import("./import-lists.ts"),
      import("./import-rows.ts"),
      import("./import-steps.ts"),
      import("./import-undo.ts"),
      import("./imports.ts"),
    ),
  "Login cards": () =>
    join(
      import("./cards.ts"),
      import("./create-cards.ts"),
      import("./credential-batches.ts"),
      import("./parent-letter.ts"),
      import("./print-cards.ts"),
      import("./school-settings.ts"),
    ),
  Logins: () =>
    join(
      import("./explanations.ts"),
      import("./logins.ts"),
      import("./password-requests.ts"),
      import("./passwords.ts"),
      import("./school-settings.ts"),
      import("./second-factors.ts"),
      import("./sessions.ts"),
    ),
  Mergers: () => import("./mergers.ts"),
  Operation: () => join(import("./figures.ts"), import("./operation.ts")),
  People: () =>
    join(
      import("./disclosures.ts"),
      import("./logins.ts"),
      import("./people.ts"),
      import("./person-data.ts"),
      import("./person-imports.ts"),
      import("./person-schools.ts"),
      import("./sessions.ts"),
    ),
  Retention: () => join(import("./person-retention.ts"), import("./retention.ts")),
  Sandboxes: () => import("./sandboxes.ts"),
  "School logins": () =>
    join(
      import("./upstream-connections.ts"),
      import("./upstream-links.ts"),
      import("./upstream-set-up.ts"),
      import("./way-in.ts"),
    ),
  Schools: () => join(import("./processing-record.ts"), import("./school-logo.ts"), import("./schools.ts")),
  Staff: () =>
    join(import("./class-teachers.ts"), import("./staff-people.ts"), import("./staff.ts"), import("./today.ts")),
  Webhooks: () =>
    join(import("./deliveries.ts"), import("./endpoints.ts"), import("./listeners.ts"), import("./traffic.ts")),
};

export const operationIds = Object.keys(staffOperations) as OperationId[];

export async function loadHandlers(ids: readonly OperationId[]): Promise<Map<OperationId, AdminHandler<OperationId>>> {
  const load = async (id: OperationId) => {
    const handlers = await resources[staffOperations[id].tag]();
    return [id, handlers[id as keyof typeof handlers] as AdminHandler<OperationId>] as const;
  };
  return new Map(await Promise.all(ids.map(load)));
}
