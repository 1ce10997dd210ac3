import { listMySchools, nameOf, type PageRequest, type Redirect } from "../frame/index.ts";
import { handOverAddress, people, person, readPerson } from "./record.ts";

/** `leave` can be undone by restoring the person, `delete` cannot. */
type Step = "leave" | "delete";

const leave = ({ call }: PageRequest, step: Step, query: { "dry-run"?: true } = {}) =>
  step === "leave" ? call("softDeletePerson", { query }) : call("deletePerson", { query });

export const showStep = (step: Step) => async (request: PageRequest) => {
  const [{ record, tag }, changes] = await Promise.all([
    readPerson(request),
    leave(request, step, { "dry-run": true }),
  ]);
  const base = request.at(person);
  const model = { step, base, fullName: nameOf(record, request), tag, changes: changes ?? [] };
  return { title: request.t(`confirm.${step}.title`), view: "confirm", model };
};

export const confirmStep =
  (step: Step) =>
  async (request: PageRequest): Promise<Redirect> => {
    await leave(request, step);
    if (step === "leave") return { to: request.at(person), done: "personLeft" };
    return { to: request.at(people), done: "personDeleted" };
  };

/** `move` to another school, `join` a second one, `quit` this one. */
const ways = ["move", "join", "quit"] as const;
type Way = (typeof ways)[number];

function change({ call, path }: PageRequest, { way, to }: { way: Way; to: string }, query: { "dry-run"?: true } = {}) {
  if (way === "move") return call("movePerson", { query, body: { toSchoolId: to, fromSchoolId: path.schoolId } });
  if (way === "join") return call("joinSchool", { path: { schoolId: to }, query });
  return call("leaveSchool", { query });
}

/** Offers schools; after a choice it shows what apps would see differently. */
export async function showSchools(request: PageRequest) {
  const { at, t, path, query, field } = request;
  const to = query("to") || field("to");
  const way = ways.find((one) => one === (query("how") || field("how")));
  const isChosen = way !== undefined && (way === "quit" || to !== "");
  const [{ record }, schools, changes] = await Promise.all([
    readPerson(request),
    listMySchools(request),
    isChosen ? change(request, { way, to }, { "dry-run": true }) : null,
  ]);
  const here = new Set(record.schools.map(({ id }) => id));
  const model = {
    base: at(person),
    fullName: nameOf(record, request),
    changes,
    how: way ?? "move",
    to,
    schools: record.isGuest ? [] : schools.filter(({ id }) => !here.has(id)),
    handOver: handOverAddress(request, record),
    mayQuit: record.homeSchoolId !== path.schoolId,
    toName: schools.find(({ id }) => id === to)?.name ?? "",
  };
  return { title: t("school.title"), view: "school", model };
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
