import { bodyOf, withIdempotencyKey, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Verbs } from "./command.ts";
import { done, made, nameOf, type Columns } from "./lines.ts";
import { option, required } from "./option.ts";
import { argsOf, changes, lists, listsAll } from "./verbs.ts";

const one = "/admin/v1/upstream-connections/{connectionId}";
const oneRefusal = `${one}/refusals/{refusalId}` as const;
const ofPerson = "/admin/v1/people/{personId}/upstream-links";

const refusalColumns: Columns<Schemas["UpstreamRefusal"]> = {
  id: ({ id }) => id,
  reason: ({ code }) => code,
  name: ({ displayName }) => displayName,
  claim: ({ ruleClaim, ruleValue }) => ruleClaim && `${ruleClaim} = ${ruleValue ?? "(missing)"}`,
  matches: ({ matches }) => String(matches),
  tries: ({ tries }) => String(tries),
  last: ({ lastAt }) => lastAt,
};

const linkColumns: Columns<Schemas["UpstreamLink"]> = {
  person: ({ personId }) => personId,
  name: ({ name }) => nameOf(name),
  subject: ({ subject }) => subject,
  by: ({ linkedBy }) => linkedBy,
  "last sign-in": ({ lastSignInAt }) => lastSignInAt,
};

/** Who signs in through them. */
export const accountVerbs: Verbs = {
  links: listsAll(`${one}/links`, {
    summary: "List the accounts linked through a connection.",
    name: "links",
    columns: linkColumns,
    id: ({ personId }) => personId,
  }),
  "links-of": listsAll(ofPerson, {
    summary: "List the school logins of a person.",
    name: "links",
    columns: {
      connection: ({ connectionId }) => connectionId,
      name: ({ connectionName }) => connectionName,
      school: ({ schoolName }) => schoolName,
      by: ({ linkedBy }) => linkedBy,
      "last sign-in": ({ lastSignInAt }) => lastSignInAt,
    },
    id: ({ connectionId }) => connectionId,
  }),
  unlink: changes("delete", `${ofPerson}/{connectionId}`, {
    summary: "Unlink a school login of a person. If the rule matches them, their next sign-in links them again.",
    line: "Unlinked.",
  }),
  refusals: lists(`${one}/refusals`, {
    summary: "List the accounts that a connection refused, newest first.",
    name: "refusals",
    columns: refusalColumns,
  }),
  link: makeApiCommand({
    summary: "Link a refused account to a person by hand.",
    args: argsOf(oneRefusal),
    options: { person: required(option.person("Whom the account signs in from now on.")) },
    run: async ({ api }, { args: path, options: { person: personId } }) => {
      await api.POST(`${oneRefusal}/link`, { params: { path }, body: { personId } });
      return done("Linked.", { id: path.refusalId, person: personId });
    },
  }),
  accept: makeApiCommand({
    summary: "Accept an account that waits for staff as a guest of the school, whom apps see from then on.",
    args: argsOf(oneRefusal),
    run: async ({ api }, { args: { connectionId, refusalId } }) => {
      const params = { path: { connectionId }, ...withIdempotencyKey() };
      const body = { refusalIds: [refusalId] };
      const { personIds } = await bodyOf(api.POST(`${one}/guests`, { params, body }));
      return made(personIds[0]!);
    },
  }),
  dismiss: changes("delete", oneRefusal, {
    summary: "Dismiss a refusal, or decline a guest. It returns if the account is refused again.",
    line: "Refusal dismissed.",
  }),
};
