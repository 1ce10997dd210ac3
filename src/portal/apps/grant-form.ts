import type { AdminSchemas } from "../../admin/index.ts";
import { makeChoices, readChosen, Refused, searchOf, take, takePage, takeUnlessDone } from "../frame/index.ts";
import type { Choices, Gone, Shown, Visit } from "../frame/index.ts";
import { addressOf, pathOf, readApp } from "./app.ts";
import { withheldFrom, wordsOf, type CatalogueApp } from "./words.ts";

type Settings = AdminSchemas["GrantSettings"];
type NamedGroup = AdminSchemas["NamedGroup"];

const kinds = ["NOBODY", "EVERYBODY", "ROLES", "GROUPS"] as const;
const roleNames = ["STUDENT", "TEACHER", "OTHER"] as const;
const route = "/admin/v1/schools/{schoolId}/grants/{clientId}";

/** The form for what a school gives an app, with what was typed or else what is given. */
export async function showForm(visit: Visit): Promise<Shown> {
  const [app, groups, tag] = await Promise.all([readApp(visit), listGroups(visit), readTag(visit)]);
  const isTyped = Object.keys(visit.typed).length > 0;
  const given = isTyped ? readSettings(visit) : settingsOf(app);
  const model = {
    app,
    tag,
    address: addressOf(visit),
    kinds,
    roleNames,
    words: wordsOf(visit),
    given,
    hasGroups: groups.length > 0,
    signOnGroups: choose(visit, "signOnGroup", groups, given.signOn.groupIds ?? []),
    syncedGroups: choose(visit, "syncedGroup", groups, given.syncedGroupIds),
    withheld: withheldFrom(app),
  };
  return { title: visit.t("apps.form.title", { app: app.name }), view: "form", model };
}

function choose(visit: Visit, name: string, groups: readonly NamedGroup[], chosen: readonly string[]): Choices {
  const search = searchOf(visit, name);
  const fold = (text: string) => text.toLocaleLowerCase("de");
  const found = groups.filter((group) => fold(group.name).includes(fold(search)));
  const present = new Set(groups.map(({ id }) => id));
  return makeChoices(
    search,
    found,
    chosen.filter((id) => present.has(id)),
  );
}

/** What the form does: it is looked at first, then confirmed, or gone back to. */
export async function changeGrant(visit: Visit): Promise<Shown | Gone> {
  const step = visit.field("step");
  if (step === "edit" || step === "search") return showForm(visit);
  const settings = checkSettings(readSettings(visit));
  return step === "confirm" ? confirm(visit, settings) : preview(visit, settings);
}

async function preview(visit: Visit, settings: Settings): Promise<Shown> {
  const [app, groups, changes] = await Promise.all([
    readApp(visit),
    listGroups(visit),
    take(
      visit.api.PUT(route, {
        params: { path: pathOf(visit), query: { "dry-run": true }, header: ifMatch(visit) },
        body: settings,
      }),
    ),
  ]);
  const words = wordsOf(visit);
  const names = new Map(groups.map(({ id, name }) => [id, name]));
  const namesOf = (ids: readonly string[]) => ids.map((id) => names.get(id) ?? visit.t("apps.form.otherGroup"));
  const { kind, roles = [], groupIds = [] } = settings.signOn;
  const model = {
    app,
    changes: changes ?? [],
    tag: visit.field("tag"),
    address: addressOf(visit),
    fields: fieldsOf(settings),
    before: {
      signOn: app.grant === null ? words.audience(nobody, []) : audienceOf(visit, app.grant),
      sync: words.sync(app.grant?.sync ?? false, app.grant?.syncedGroups.map(({ name }) => name) ?? []),
    },
    after: {
      signOn: words.audience({ kind, roles, groupIds }, namesOf(groupIds)),
      sync: words.sync(settings.sync, namesOf(settings.syncedGroupIds)),
    },
  };
  return { title: visit.t("apps.preview.title", { app: app.name }), view: "preview", model };
}

async function confirm(visit: Visit, settings: Settings): Promise<Gone> {
  const params = { path: pathOf(visit), header: ifMatch(visit) };
  await takeUnlessDone(visit.api.PUT(route, { params, body: settings }), settings);
  return { to: addressOf(visit), done: "granted" };
}

const nobody: AdminSchemas["SignOnAudience"] = { kind: "NOBODY", roles: [], groupIds: [] };

const audienceOf = (visit: Visit, grant: NonNullable<CatalogueApp["grant"]>): string =>
  wordsOf(visit).audience(
    grant.signOn,
    grant.signOnGroups.map(({ name }) => name),
  );

const ifMatch = (visit: Visit): { "If-Match"?: string } => {
  const tag = visit.field("tag");
  return tag === "" ? {} : { "If-Match": tag };
};

/** The tag of the grant that the form stands on; "" where there is none yet. */
async function readTag(visit: Visit): Promise<string> {
  const { response } = await visit.api.GET(route, { params: { path: pathOf(visit) } });
  return response.ok ? (response.headers.get("etag") ?? "") : "";
}

/** All groups of the school that apps can see, from a page of the list on. */
async function listGroups(visit: Visit, cursor: string | null = null): Promise<NamedGroup[]> {
  const query = { school: visit.part("schoolId"), limit: 1000, ...(cursor !== null && { cursor }) };
  const { items, next } = await takePage(visit.api.GET("/admin/v1/groups", { params: { query } }));
  const groups = items.map(({ id, name }) => ({ id, name }));
  return next === null ? groups : [...groups, ...(await listGroups(visit, next))];
}

const settingsOf = ({ grant }: CatalogueApp): Settings =>
  grant === null
    ? { signOn: { kind: "NOBODY" }, sync: false, syncedGroupIds: [] }
    : { signOn: grant.signOn, sync: grant.sync, syncedGroupIds: grant.syncedGroups.map(({ id }) => id) };

/** What the form says. Shape: what belongs to another kind of audience is kept for the form alone. */
function readSettings(visit: Visit): Settings {
  const { typed, field } = visit;
  const kind = kinds.find((one) => one === field("signOn")) ?? "NOBODY";
  const roles = roleNames.filter((role) => typed["role"]?.includes(role));
  const signOn = { kind, roles, groupIds: readChosen(visit, "signOnGroup") };
  return { signOn, sync: field("sync") === "on", syncedGroupIds: readChosen(visit, "syncedGroup") };
}

/** What is asked of the admin API. Errors: Refused roles_missing, groups_missing. */
function checkSettings({ signOn: { kind, roles = [], groupIds = [] }, ...rest }: Settings): Settings {
  if (kind === "ROLES" && roles.length === 0) throw new Refused(400, { code: "roles_missing" });
  if (kind === "GROUPS" && groupIds.length === 0) throw new Refused(400, { code: "groups_missing" });
  return {
    ...rest,
    signOn: { kind, ...(kind === "ROLES" && { roles }), ...(kind === "GROUPS" && { groupIds }) },
  };
}

/** The fields of the form that say the same. */
const fieldsOf = ({ signOn, sync, syncedGroupIds }: Settings): { name: string; value: string }[] => [
  { name: "signOn", value: signOn.kind },
  ...(signOn.roles ?? []).map((value) => ({ name: "role", value })),
  { name: "kept-signOnGroup", value: (signOn.groupIds ?? []).join(",") },
  ...(sync ? [{ name: "sync", value: "on" }] : []),
  { name: "kept-syncedGroup", value: syncedGroupIds.join(",") },
];
