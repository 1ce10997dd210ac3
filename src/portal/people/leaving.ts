import {
  makePage,
  listMySchools,
  callName,
  type PageHandler,
  type PageRequest,
  type Redirect,
} from "../frame/index.ts";
import { handOverAddress, people, person, readPerson } from "./record.ts";

export const showStep =
  (step: "leave" | "delete"): PageHandler =>
  async (request) => {
    const query = { "dry-run": true };
    const { call, t } = request;
    const [{ record, tag }, changes] = await Promise.all([
      readPerson(request),
      step === "leave" ? call("softDeletePerson", { query }) : call("deletePerson", { query }),
    ]);
    const model = { step, fullName: callName(record, request), tag, changes: changes ?? [] };
    return makePage("confirm", t(`confirm.${step}.title`), model);
  };

/** `move` to another school, `join` a second one, `quit` this one. */
const ways = ["move", "join", "quit"] as const;

function change(
  { call, path }: PageRequest,
  { way, to }: { way: (typeof ways)[number]; to: string },
  query: { "dry-run"?: true } = {},
) {
  if (way === "move") return call("movePerson", { query, body: { toSchoolId: to, fromSchoolId: path.schoolId } });
  if (way === "join") return call("joinSchool", { path: { schoolId: to }, query });
  return call("leaveSchool", { query });
}

/** Offers schools; after a choice it shows what apps would see differently. */
export async function showSchools(request: PageRequest) {
  const { t, path, query, field } = request;
  const to = query("to") || field("to");
  const way = ways.find((one) => one === (query("how") || field("how")));
  const isChosen = way !== undefined && (way === "quit" || to !== "");
  const [{ record }, schools, changes] = await Promise.all([
    readPerson(request),
    listMySchools(request),
    isChosen ? change(request, { way, to }, { "dry-run": true }) : null,
  ]);
  const here = new Set(record.schools.map(({ id }) => id));
  return makePage("school", t("school.title"), {
    fullName: callName(record, request),
    changes,
    how: way ?? "move",
    to,
    schools: record.isGuest ? [] : schools.filter(({ id }) => !here.has(id)),
    handOver: handOverAddress(request, record),
    mayQuit: record.homeSchoolId !== path.schoolId,
    toName: schools.find(({ id }) => id === to)?.name ?? "",
  });
}

export async function changeSchool(request: PageRequest): Promise<Redirect> {
  const { at, field, path } = request;
  const to = field("to");
  const way = ways.find((one) => one === field("how"));
  if (way === undefined) return { to: at(person) };
  await change(request, { way, to });
  if (way === "quit") return { to: at(people), done: "schoolQuit" };
  if (way === "join") return { to: at(person), done: "schoolJoined" };
  return { to: `/admin/schools/${to}/people/${path.personId}`, done: "schoolMoved" };
}
