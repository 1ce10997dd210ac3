import type { PersonId, SchoolId } from "../directory/index.ts";
import { bodyOf, withIdempotencyKey, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Verbs } from "./command.ts";
import { counted, done, nameOf, tableOf, type Columns } from "./lines.ts";
import { option, required, UsageError } from "./option.ts";
import { argsOf, lists, shows } from "./verbs.ts";

type Handover = Schemas["Handover"];

const ofSchool = "/admin/v1/schools/{schoolId}/handovers";
const one = "/admin/v1/handovers/{handoverId}";
const args = argsOf(one);

const columns: Columns<Handover> = {
  id: ({ id }) => id,
  state: ({ state }) => state,
  from: ({ from }) => from.name,
  to: ({ to }) => to.name,
  pupils: ({ offered }) => String(offered),
  moved: ({ moved }) => moved?.toString() ?? null,
  expires: ({ expiresAt }) => expiresAt,
};

const pupilColumns: Columns<Handover["pupils"][number]> = {
  id: ({ id }) => id,
  name: ({ name }) => nameOf(name),
  classes: ({ classes }) => classes.join(" "),
};

const show = (handover: Handover): Result => ({
  table: tableOf(handover.pupils, pupilColumns),
  lines: [
    `${handover.state}: ${counted(handover.offered, "pupil")} from ${handover.from.name} to ${handover.to.name}.`,
  ],
  quiet: [handover.id],
  data: handover,
});

/** Reads `person=value`. Errors: UsageError. */
function readPairs(name: string, texts: readonly string[]): Map<string, string> {
  const pairs = texts.map((text) => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)] as const);
  if (pairs.some(([person, value]) => person === "" || value === ""))
    throw new UsageError(`--${name}: write the person's id, = and the value.`);
  return new Map(pairs);
}

export const verbs: Verbs = {
  schools: lists("/admin/v1/schools/{schoolId}/receiving-schools", {
    summary: "Find a school that can receive pupils, by name or place.",
    name: "schools",
    columns: { id: ({ id }) => id, name: ({ name }) => name, city: ({ city }) => city },
    options: { search: required(option.text("A part of the name or place.")) },
  }),
  offer: makeApiCommand({
    summary: "Offer pupils to another school, which accepts or declines. Until then nothing changes.",
    args: argsOf(ofSchool),
    options: {
      to: required(option.id<SchoolId>("The id of the school that receives them.")),
      person: required(option.people("A pupil.")),
    },
    run: async ({ api }, { args: path, options: { to, person } }) => {
      const body = { toSchoolId: to, personIds: [...person] as PersonId[] };
      return show(await bodyOf(api.POST(ofSchool, { params: { path, ...withIdempotencyKey() }, body })));
    },
  }),
  list: lists(ofSchool, {
    summary: "List the hand-overs from a school and to it, newest first.",
    name: "hand-overs",
    columns,
  }),
  show: shows(one, { summary: "Show a hand-over with its pupils.", show }),
  accept: makeApiCommand({
    summary: "Accept a hand-over: the pupils move with their logins.",
    args,
    options: {
      group: option.texts("The class of a pupil; both by id.", "person=group"),
      sourceId: option.texts("The id of a pupil in the files that this school imports.", "person=id"),
    },
    run: async ({ api }, { args: path, options: { group = [], sourceId = [] } }) => {
      const [groups, ids] = [readPairs("group", group), readPairs("source-id", sourceId)];
      const pupils = [...new Set([...groups.keys(), ...ids.keys()])].map((personId) => ({
        personId,
        ...(groups.has(personId) && { groupId: groups.get(personId)! }),
        ...(ids.has(personId) && { sourceSystemIdentifier: ids.get(personId)! }),
      }));
      const accepted = await bodyOf(api.POST(`${one}/acceptance`, { params: { path }, body: { pupils } }));
      return { ...done(`${counted(accepted.moved ?? 0, "pupil")} moved.`, accepted), quiet: [accepted.id] };
    },
  }),
  decline: makeApiCommand({
    summary: "Decline a hand-over. The pupils stay where they are.",
    args,
    run: async ({ api }, { args: path }) => show(await bodyOf(api.POST(`${one}/refusal`, { params: { path } }))),
  }),
  withdraw: makeApiCommand({
    summary: "Withdraw an offer that waits for an answer.",
    args,
    run: async ({ api }, { args: path }) => show(await bodyOf(api.DELETE(one, { params: { path } }))),
  }),
};
