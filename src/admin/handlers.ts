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
  Agreements: () => import("./agreements/agreements.ts"),
  Apps: () =>
    join(
      import("./apps/app-answers.ts"),
      import("./apps/app-changes.ts"),
      import("./apps/apps.ts"),
      import("./apps/id-moves.ts"),
    ),
  Audit: () => import("./privacy/audit.ts"),
  "Data requests": () => import("./privacy/data-requests.ts"),
  Grants: () => join(import("./apps/app-views.ts"), import("./apps/grants.ts"), import("./apps/usage.ts")),
  Groups: () => import("./groups/groups.ts"),
  Handovers: () => import("./schools/handovers.ts"),
  Imports: () =>
    join(
      import("./imports/columns.ts"),
      import("./imports/lists.ts"),
      import("./imports/steps.ts"),
      import("./imports/imports.ts"),
    ),
  "Login cards": () =>
    join(
      import("./credentials/cards.ts"),
      import("./credentials/batches.ts"),
      import("./credentials/class-lists.ts"),
      import("./schools/settings.ts"),
    ),
  Logins: () =>
    join(
      import("./people/logins.ts"),
      import("./people/sign-in-steps.ts"),
      import("./people/sessions.ts"),
      import("./schools/settings.ts"),
    ),
  Mergers: () => import("./schools/mergers.ts"),
  Operation: () => import("./operator/operation.ts"),
  People: () =>
    join(
      import("./imports/imports.ts"),
      import("./people/logins.ts"),
      import("./people/people.ts"),
      import("./people/sessions.ts"),
      import("./privacy/person-data.ts"),
    ),
  Retention: () => import("./schools/retention.ts"),
  "Roster connections": () => import("./imports/roster-connections.ts"),
  Sandboxes: () => import("./apps/sandboxes.ts"),
  "School logins": () =>
    join(import("./schools/settings.ts"), import("./upstream/connections.ts"), import("./upstream/links.ts")),
  Schools: () => join(import("./privacy/processing-record.ts"), import("./schools/schools.ts")),
  Staff: () => join(import("./operator/today.ts"), import("./staff/staff.ts")),
  Usage: () => import("./apps/usage.ts"),
  Webhooks: () => join(import("./apps/apps.ts"), import("./webhooks/deliveries.ts"), import("./webhooks/endpoints.ts")),
};

export const operationIds = Object.keys(staffOperations) as OperationId[];

const loading = new Map<Tag, Promise<Partial<Record<OperationId, unknown>>>>();

/** The handlers of a tag, which are joined once per process. */
function loadTag(tag: Tag): Promise<Partial<Record<OperationId, unknown>>> {
  const handlers = loading.get(tag) ?? resources[tag]();
  loading.set(tag, handlers);
  return handlers;
}

export async function loadHandlers(ids: readonly OperationId[]): Promise<Map<OperationId, AdminHandler<OperationId>>> {
  const load = async (id: OperationId) =>
    [id, (await loadTag(staffOperations[id].tag))[id] as AdminHandler<OperationId>] as const;
  return new Map(await Promise.all(ids.map(load)));
}
