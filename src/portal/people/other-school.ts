import { listMySchools, nameOf, unwrap, type PageRequest, type PageView, type Redirect } from "../frame/index.ts";
import { handOverAddress } from "./presentation.ts";
import { addressOf, readPerson } from "./record.ts";

/** `move` to another school, `join` a second one, `quit` this one. */
type How = "move" | "join" | "quit";

const hows: readonly How[] = ["move", "join", "quit"];
const isHow = (text: string): text is How => (hows as readonly string[]).includes(text);

const at = "/admin/v1/people/{personId}";

function call(request: PageRequest, { how, to }: { how: How; to: string }, query: { "dry-run"?: true }) {
  const { api, path } = request;
  const from = path.schoolId;
  if (how === "move")
    return api.POST(`${at}/move`, { params: { path, query }, body: { toSchoolId: to, fromSchoolId: from } });
  if (how === "join")
    return api.PUT(`${at}/schools/{schoolId}`, { params: { path: { ...path, schoolId: to }, query } });
  return api.DELETE(`${at}/schools/{schoolId}`, { params: { path, query } });
}

/** Offers schools; after a choice it shows what apps would see differently. */
export async function showSchools(request: PageRequest): Promise<PageView> {
  const { t, param, query, field } = request;
  const [how, to] = [query("how") || field("how"), query("to") || field("to")];
  const isChosen = isHow(how) && (how === "quit" || to !== "");
  const [{ record }, schools, changes] = await Promise.all([
    readPerson(request),
    listMySchools(request),
    isChosen ? unwrap(call(request, { how, to }, { "dry-run": true })) : null,
  ]);
  const here = new Set(record.schools.map(({ id }) => id));
  const model = {
    base: addressOf(request),
    fullName: nameOf(record, request),
    changes,
    how: isHow(how) ? how : "move",
    to,
    schools: record.isGuest ? [] : schools.filter(({ id }) => !here.has(id)),
    handOver: handOverAddress(request, record),
    mayQuit: record.homeSchoolId !== param("schoolId"),
    toName: schools.find(({ id }) => id === to)?.name ?? "",
  };
  return { title: t("school.title"), view: "school", model };
}

export async function changeSchool(request: PageRequest): Promise<Redirect> {
  const { field, param } = request;
  const [how, to] = [field("how"), field("to")];
  if (!isHow(how)) return { to: addressOf(request) };
  await unwrap(call(request, { how, to }, {}));
  if (how === "quit") return { to: `/admin/schools/${param("schoolId")}/people`, done: "schoolQuit" };
  const schoolId = how === "move" ? to : param("schoolId");
  const done = how === "move" ? "schoolMoved" : "schoolJoined";
  return { to: `/admin/schools/${schoolId}/people/${param("personId")}`, done };
}
