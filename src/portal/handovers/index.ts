import type { AdminSchemas } from "../../admin/index.ts";
import {
  makePage,
  listGroups,
  makeArea,
  callName,
  onlyClasses,
  onlyIf,
  pickable,
  type PageRequest,
} from "../frame/index.ts";

const handovers = "/admin/schools/:schoolId/handovers";
const one = `${handovers}/:handoverId`;
const mostPupils = 200;

/** `/admin/schools/:schoolId/handovers`: pupils are handed over to another school and received. */
export const handoverPages = makeArea({ folder: import.meta.dirname, page: "people" }, (pages) => {
  pages.at(handovers, showHandovers).form("new", offer, onlyIf("createHandover", showOffer));
  const onOne = pages.at(one, showHandover);
  onOne.post("accept", accept);
  onOne.act("decline", "declineHandover", "declined", { to: handovers });
  onOne.act("withdraw", "withdrawHandover", "withdrawn", { to: handovers });
});

const present = (handover: AdminSchemas["Handover"], request: PageRequest) => ({
  ...handover,
  isIncoming: handover.to.id === request.path.schoolId,
  pupils: handover.pupils.map((pupil) => ({
    id: pupil.id,
    name: callName(pupil, request),
    classes: pupil.classes.join(", "),
  })),
});

async function showHandovers(request: PageRequest) {
  const { list, t } = request;
  const { items, more } = await list("listHandovers");
  return makePage("list", t("handovers.title"), {
    handovers: items.map((handover) => present(handover, request)),
    more,
  });
}

async function showHandover(request: PageRequest) {
  const { call, may, t, field } = request;
  const handover = present(await call("getHandover"), request);
  const isOpen = handover.state === "OFFERED";
  const mayAnswer = isOpen && handover.isIncoming && may("acceptHandover");
  return makePage("handover", t("handover.title"), {
    handover,
    isOpen,
    mayAnswer,
    mayWithdraw: isOpen && !handover.isIncoming && may("withdrawHandover"),
    classes: mayAnswer ? onlyClasses(await listGroups(request)) : [],
    chosen: (id: string) => field(`class-${id}`),
  });
}

async function accept({ call, at, typed, field }: PageRequest) {
  const pupils = [...new Set(typed["person"] ?? [])].map((personId) => {
    const [groupId, sourceSystemIdentifier] = [field(`class-${personId}`), field(`number-${personId}`)];
    return {
      personId,
      ...(groupId !== "" && { groupId }),
      ...(sourceSystemIdentifier !== "" && { sourceSystemIdentifier }),
    };
  });
  const { moved } = await call("acceptHandover", { body: { pupils } });
  return { to: at(one), done: "accepted", count: moved ?? 0 };
}

/** The pupils to choose from: one person, or the members of a class. */
async function listPupils(request: PageRequest, { personId, groupId }: { personId: string; groupId: string }) {
  const { call, path } = request;
  if (personId !== "") return [pickable(await call("getPerson", { path: { personId } }), request)];
  if (groupId === "") return [];
  const query = {
    school: path.schoolId,
    group: groupId,
    status: "ACTIVE",
    role: "STUDENT",
    limit: mostPupils,
  } as const;
  const members = await call("listPeople", { query });
  return members.filter(({ isGuest }) => !isGuest).map((person) => pickable(person, request));
}

async function showOffer(request: PageRequest) {
  const { call, path, query, field, typed, t } = request;
  const search = field("search");
  const [ofPerson, ofGroup] = [query("person") || field("of-person"), query("group") || field("of-group")];
  const [pupils, groups, schools] = await Promise.all([
    listPupils(request, { personId: ofPerson, groupId: ofGroup }),
    listGroups(request),
    search.length < 2 ? null : call("listReceivingSchools", { query: { search, limit: 20 } }),
  ]);
  const isWhole = query("all") !== "";
  return makePage("offer", t("offer.title"), {
    ofPerson,
    ofGroup,
    pupils,
    isWhole,
    isChosen: (id: string) => typed["person"]?.includes(id) ?? (pupils.length === 1 || isWhole),
    classes: onlyClasses(groups),
    search,
    schools: schools?.filter(({ id }) => id !== path.schoolId) ?? null,
    school: field("school"),
  });
}

async function offer(request: PageRequest) {
  const { call, at, field, typed } = request;
  const [toSchoolId, personIds] = [field("school"), [...new Set(typed["person"] ?? [])]];
  if (field("step") === "search" || toSchoolId === "" || personIds.length === 0) return showOffer(request);
  const { id, offered } = await call("createHandover", { body: { toSchoolId, personIds } });
  return { to: `${at(handovers)}/${id}`, done: "offered", count: offered };
}
