import type { AdminSchemas } from "../../admin/index.ts";
import {
  makePage,
  headersOf,
  makeChoices,
  readChoice,
  readChosen,
  refuseField,
  searchOf,
  unlessDone,
} from "../frame/index.ts";
import type { Choices, Redirect, PageView, PageRequest } from "../frame/index.ts";
import { app as addressOfApp, withheldFrom, wordsOf, type CatalogueApp } from "./app.ts";

type Settings = AdminSchemas["GrantSettings"];
type NamedGroup = AdminSchemas["NamedGroup"];

const kinds = ["NOBODY", "EVERYBODY", "ROLES", "GROUPS"] as const;
const roleNames = ["STUDENT", "TEACHER", "OTHER"] as const;

export async function showForm(request: PageRequest): Promise<PageView> {
  const [app, groups, tag] = await Promise.all([
    request.call("getCatalogueApp"),
    listGroups(request),
    readTag(request),
  ]);
  const isTyped = Object.keys(request.typed).length > 0;
  const settings = isTyped ? readSettings(request) : settingsOf(app);
  return makePage("form", request.t("apps.form.title", { app: app.name }), {
    app,
    tag,
    kinds,
    roleNames,
    words: wordsOf(request),
    given: settings,
    hasGroups: groups.length > 0,
    signOnGroups: choose(request, "signOnGroup", groups, settings.signOn.groupIds ?? []),
    syncedGroups: choose(request, "syncedGroup", groups, settings.syncedGroupIds),
    withheld: withheldFrom(app),
  });
}

function choose(request: PageRequest, name: string, groups: readonly NamedGroup[], chosen: readonly string[]): Choices {
  const search = searchOf(request, name);
  const fold = (text: string) => text.toLocaleLowerCase("de");
  const results = groups.filter((group) => fold(group.name).includes(fold(search)));
  const present = new Set(groups.map(({ id }) => id));
  return makeChoices(
    search,
    results,
    chosen.filter((id) => present.has(id)),
  );
}

/** Shows the preview, then confirms it or goes back to the form. */
export async function changeGrant(request: PageRequest): Promise<PageView | Redirect> {
  const step = request.field("step");
  if (step === "edit" || step === "search") return showForm(request);
  const settings = checkSettings(request, readSettings(request));
  return step === "confirm" ? confirm(request, settings) : preview(request, settings);
}

async function preview(request: PageRequest, settings: Settings): Promise<PageView> {
  const [app, groups, changes] = await Promise.all([
    request.call("getCatalogueApp"),
    listGroups(request),
    request.call("putGrant", { query: { "dry-run": true }, headers: asShown(request), body: settings }),
  ]);
  const words = wordsOf(request);
  const names = new Map(groups.map(({ id, name }) => [id, name]));
  const namesOf = (ids: readonly string[]) => ids.map((id) => names.get(id) ?? request.t("apps.form.otherGroup"));
  const { kind, roles = [], groupIds = [] } = settings.signOn;
  return makePage("preview", request.t("apps.preview.title", { app: app.name }), {
    app,
    changes: changes ?? [],
    tag: request.field("tag"),
    fields: fieldsOf(settings),
    before: {
      signOn: app.grant === null ? words.audience(nobody, []) : audienceOf(request, app.grant),
      sync: words.sync(app.grant?.sync ?? false, app.grant?.syncedGroups.map(({ name }) => name) ?? []),
    },
    after: {
      signOn: words.audience({ kind, roles, groupIds }, namesOf(groupIds)),
      sync: words.sync(settings.sync, namesOf(settings.syncedGroupIds)),
    },
  });
}

async function confirm(request: PageRequest, settings: Settings): Promise<Redirect> {
  await request.call("putGrant", { headers: asShown(request), body: settings }).catch(unlessDone(settings));
  return { to: request.at(addressOfApp), done: "granted" };
}

const nobody: AdminSchemas["SignOnAudience"] = { kind: "NOBODY", roles: [], groupIds: [] };

const audienceOf = (request: PageRequest, grant: NonNullable<CatalogueApp["grant"]>): string =>
  wordsOf(request).audience(
    grant.signOn,
    grant.signOnGroups.map(({ name }) => name),
  );

/** The form has no tag if the school had granted the app nothing: the first grant of somebody else is not replaced. */
const asShown = (request: PageRequest): Record<string, string> =>
  request.field("tag") === "" ? { "If-None-Match": "*" } : headersOf(request);

/** The tag of the grant; "" if there is none yet. */
const readTag = async ({ api, path }: PageRequest): Promise<string> =>
  (await api.call("getGrant", { path })).headers.get("etag") ?? "";

const listGroups = ({ listAll, path }: PageRequest): Promise<NamedGroup[]> =>
  listAll("listGroups", { school: path.schoolId, limit: 1000 });

const settingsOf = ({ grant }: CatalogueApp): Settings =>
  grant === null
    ? { signOn: { kind: "NOBODY" }, sync: false, syncedGroupIds: [] }
    : { signOn: grant.signOn, sync: grant.sync, syncedGroupIds: grant.syncedGroups.map(({ id }) => id) };

/** Reads the form, including the fields of audiences that are not selected. */
function readSettings(request: PageRequest): Settings {
  const { typed, field } = request;
  const kind = kinds.find((one) => one === field("signOn")) ?? "NOBODY";
  const roles = roleNames.filter((role) => typed["role"]?.includes(role));
  const signOn = { kind, roles, groupIds: readChosen(request, "signOnGroup") };
  return { signOn, sync: field("sync") === "on", syncedGroupIds: readChosen(request, "syncedGroup") };
}

/** Keeps what belongs to the chosen audience. Errors: Refused roles_missing, groups_missing, choice_contradicts. */
function checkSettings(request: PageRequest, { signOn, ...rest }: Settings): Settings {
  const { kind: selected, roles = [], groupIds = [] } = signOn;
  const boxes = { ROLES: "role", GROUPS: "signOnGroup" };
  const kind = readChoice(request, "signOn", { selected, boxes, nobody: "NOBODY" });
  if (kind === "ROLES" && roles.length === 0) throw refuseField("signOn/roles", "roles_missing");
  if (kind === "GROUPS" && groupIds.length === 0) throw refuseField("signOn/groupIds", "groups_missing");
  return {
    ...rest,
    signOn: { kind, ...(kind === "ROLES" && { roles }), ...(kind === "GROUPS" && { groupIds }) },
  };
}

const fieldsOf = ({ signOn, sync, syncedGroupIds }: Settings): { name: string; value: string }[] => [
  { name: "signOn", value: signOn.kind },
  ...(signOn.roles ?? []).map((value) => ({ name: "role", value })),
  { name: "kept-signOnGroup", value: (signOn.groupIds ?? []).join(",") },
  ...(sync ? [{ name: "sync", value: "on" }] : []),
  { name: "kept-syncedGroup", value: syncedGroupIds.join(",") },
];
