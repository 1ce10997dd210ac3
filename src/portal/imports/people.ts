import type { AdminSchemas } from "../../admin/index.ts";
import { leavingOf, type PageRequest, type PageView, type Redirect } from "../frame/index.ts";
import { fullName, ofSchool, partOf, readImport, type ImportSchool } from "./import-record.ts";
import { addressOfList, showList } from "./lists.ts";

type Person = AdminSchemas["ImportPerson"];

/** How many people each list has; what needs a look comes first. */
export const countKinds = ({
  people,
  leavers,
  kept,
  lists,
}: ImportSchool): [kind: AdminSchemas["ImportPersonKind"], count: number][] => [
  ["RENAMED", lists.renamed],
  ["LEAVING", leavers],
  ["WITHOUT_CLASS", lists.withoutClass],
  ["NEW", people.created],
  ["RESTORED", people.restored],
  ["JOINING", people.joined],
  ["CHANGED", people.changed],
  ["CLASSES_CHANGED", lists.classesChanged],
  ["GROUPS_CHANGED", lists.groupsChanged],
  ["KEPT", kept],
];

/** Redirects to the search, which the address holds encrypted for the reader. */
export const searchImportPeople = (request: PageRequest): Promise<Redirect> => {
  const { field, hide } = request;
  const filters = { kind: field("kind"), group: field("group"), q: hide(field("search")) };
  return Promise.resolve({ to: addressOfList(request, "people", filters) });
};

export async function showPeople(request: PageRequest): Promise<PageView> {
  const { query, reveal } = request;
  const school = partOf(await readImport(request), request);
  const tabs = (school === null ? [] : countKinds(school)).filter(([, count]) => count > 0);
  const group = query("group");
  const filters = { kind: query("kind"), group, q: query("q") };
  const search = reveal(filters.q);
  const tab = filters.kind === "" && search === "" ? tabs[0] : tabs.find(([one]) => one === filters.kind);
  const kind = group === "" ? tab?.[0] : undefined;
  const { items, next } = await request.list("listImportPeople", {
    query: { ...ofSchool(request), kind, "leaves-group": group, search },
    signal: leavingOf(request),
  });
  return showList(request, "people", {
    ...filters,
    kind: kind ?? "ALL",
    chosen: filters.kind,
    search,
    tabs: [...tabs, ["ALL", null] as const].map(([one, count]) => ({
      kind: one,
      count,
      address: addressOfList(request, "people", { kind: one, q: filters.q }),
    })),
    people: items.map((person) => ({ ...person, ...describe(person, request) })),
    directory: `/admin/schools/${request.path.schoolId}/people`,
    moreFound: next && addressOfList(request, "people", { ...filters, cursor: next }),
  });
}

function describe(person: Person, request: PageRequest) {
  const { before, after } = person;
  const [was, will] = [before?.classes.join(", "), after?.classes.join(", ")];
  const words = (classes: string) => classes || request.t("undo.noClass");
  return {
    fullName: fullName((after ?? before)?.name ?? null, request),
    classes: was !== undefined && will !== undefined && was !== will ? `${words(was)} → ${words(will)}` : (will ?? was),
    words: describeChanges(person, request).join("; "),
  };
}

/** Says what happens to a person, such as "formerly Bo Berg; now in: choir". */
function describeChanges({ kinds, before, after, losesAccess }: Person, request: PageRequest): string[] {
  const { t } = request;
  const told = (["NEW", "RESTORED", "JOINING", "KEPT"] as const).filter((kind) => kinds.includes(kind));
  return [
    ...told.map((kind) => t(`people.what.${kind}`)),
    ...(kinds.includes("LEAVING") ? [t(losesAccess ? "people.what.losesAccess" : "people.what.staysElsewhere")] : []),
    ...(before === null || after === null ? [] : describeDifferences(before, after, request)),
    ...(kinds.includes("WITHOUT_CLASS") ? [t("people.what.WITHOUT_CLASS")] : []),
    ...(kinds.length === 1 && kinds[0] === "CHANGED" && isSame(before, after) ? [t("people.what.home")] : []),
  ];
}

type State = NonNullable<Person["before"]>;

const isSame = (before: Person["before"], after: Person["after"]): boolean =>
  JSON.stringify(before) === JSON.stringify(after);

function describeDifferences(before: State, after: State, request: PageRequest): string[] {
  const { t } = request;
  const [was, will] = [fullName(before.name, request), fullName(after.name, request)];
  const callNames = { before: before.name?.firstCall ?? "", after: after.name?.firstCall ?? "" };
  const without = (groups: string[], others: string[]) => groups.filter((one) => !others.includes(one)).join(", ");
  const [begun, ended] = [without(after.groups, before.groups), without(before.groups, after.groups)];
  return [
    ...(was === will ? [] : [t("people.what.name", { name: was })]),
    ...(was === will && callNames.before !== callNames.after
      ? [t("people.what.callName", { before: callNames.before, after: callNames.after })]
      : []),
    ...(before.role === after.role
      ? []
      : [t("people.what.role", { before: t(`role.${before.role}`), after: t(`role.${after.role}`) })]),
    ...(begun === "" ? [] : [t("people.what.begun", { groups: begun })]),
    ...(ended === "" ? [] : [t("people.what.ended", { groups: ended })]),
  ];
}
