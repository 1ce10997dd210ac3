import { bodyOf, makeBody, withIdempotencyKey, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Verbs } from "./command.ts";
import { done, made, nameOf, recordLines, type Columns } from "./lines.ts";
import { option, required } from "./option.ts";
import { argsOf, lists, shows } from "./verbs.ts";

type DataRequest = Schemas["DataRequest"];

const all = "/admin/v1/data-requests";
const one = `${all}/{dataRequestId}` as const;
const ofPerson = "/admin/v1/people/{personId}/data-requests";
const args = argsOf(one);

const columns: Columns<DataRequest> = {
  id: ({ id }) => id,
  person: ({ person }) => person && nameOf(person.name),
  "asked by": ({ askedBy }) => askedBy,
  received: ({ receivedOn }) => receivedOn,
  due: ({ dueOn }) => dueOn,
  "days left": ({ daysLeft }) => daysLeft?.toString() ?? null,
  outcome: ({ outcome }) => outcome,
};

const show = (request: DataRequest): Result => ({
  lines: recordLines({
    id: request.id,
    person: request.person && `${nameOf(request.person.name)} (${request.person.id})`,
    "asked by": request.askedBy,
    received: request.receivedOn,
    due: request.daysLeft === null ? request.dueOn : `${request.dueOn} (${request.daysLeft} days left)`,
    extension: request.extension,
    exported: request.exportedAt,
    outcome: request.outcome,
    closed: request.closedAt,
  }),
  quiet: [request.id],
  data: request,
});

export const verbs: Verbs = {
  record: makeApiCommand({
    summary: "Record that somebody asked the home school for the data stored about a person.",
    args: argsOf(ofPerson),
    options: {
      by: required(option.oneOf<DataRequest["askedBy"]>(["PERSON", "GUARDIAN", "AUTHORITY"], "Who asked.")),
      received: option.text("The day on which the school received it; today if left out.", "YYYY-MM-DD"),
    },
    run: async ({ api }, { args: path, options: { by: askedBy, received: receivedOn } }) => {
      const body = makeBody<Schemas["DataRequestInput"]>({ askedBy, receivedOn });
      return made((await bodyOf(api.POST(ofPerson, { params: { path, ...withIdempotencyKey() }, body }))).id);
    },
  }),
  list: lists(all, {
    summary: "List data requests, newest first.",
    name: "data requests",
    columns,
    options: {
      school: option.school("Only those of this school."),
      person: option.person("Only those about this person."),
      state: option.oneOf<DataRequest["state"]>(["OPEN", "CLOSED"], "Only requests in this state."),
    },
  }),
  show: shows(one, { summary: "Show a data request.", show }),
  extend: makeApiCommand({
    summary: "Extend the time for the answer by two months, within the first one.",
    args,
    options: { reason: required(option.oneOf(["COMPLEX", "MANY"] as const, "Why the answer takes longer.")) },
    run: async ({ api }, { args: path, options: { reason: extension } }) => {
      const extended = await bodyOf(api.PATCH(one, { params: { path }, body: { extension } }));
      return done(`The answer is due on ${extended.dueOn}.`, extended);
    },
  }),
  close: makeApiCommand({
    summary: "Close a data request.",
    args,
    options: { outcome: required(option.oneOf(["ANSWERED", "REFUSED", "WITHDRAWN"] as const, "How it ended.")) },
    run: async ({ api }, { args: path, options: { outcome } }) =>
      done("Request closed.", await bodyOf(api.PATCH(one, { params: { path }, body: { outcome } }))),
  }),
};
