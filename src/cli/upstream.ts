import { bodyOf, isEmpty, omitUndefined, updateRecord, withIdempotencyKey, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Verbs } from "./command.ts";
import type { Extension, Extensions } from "./contract-commands.ts";
import { counted, done, made, recordLines, updated } from "./lines.ts";
import { argsNamed, option, UsageError } from "./option.ts";

const emptyRule = {
  "rule-claim": { ruleClaim: null },
  normalisation: { normalisations: [] },
  group: { groupIds: [] },
};
const emptyValues = {
  issuer: { issuer: null },
  "client-id": { clientId: null },
  "secret-expires-at": { secretExpiresAt: null },
  tenant: { tenant: null },
  "school-claim": { schoolClaim: null },
  "school-value": { schoolValue: null },
  ...emptyRule,
};

/** Adds --unset, which sends these properties empty. */
const emptying = (values: Partial<typeof emptyValues>): Extension => ({
  options: { unset: option.someOf(Object.keys(emptyValues), "Leave these empty.") },
  body: (body, { unset = [] }) =>
    Object.assign({}, body, ...(unset as (keyof typeof emptyValues)[]).map((name) => values[name])) as typeof body,
});

function showCheck(check: Schemas["UpstreamCheck"]): Result {
  const { isReached, authorizationEndpoint, tokenEndpoint, userinfoEndpoint, jwksUri, failure, detail } = check;
  const endpoints = { authorization: authorizationEndpoint, token: tokenEndpoint, userinfo: userinfoEndpoint };
  const lines = isReached
    ? recordLines({ ...endpoints, keys: jwksUri })
    : [`${failure}${detail === null ? "" : `: ${detail}`}`];
  return { lines, data: check, hasFailed: !isReached };
}

function showPreview(preview: Schemas["UpstreamRulePreview"]): Result {
  const { roster, signIns, refusals } = preview;
  const refused = signIns.refused.reduce((sum, { count }) => sum + count, 0);
  const codes = signIns.refused.map(({ code, count }) => `${code} ${count}`).join(", ");
  const lines = [
    `${roster.withKey} of ${counted(roster.people, "person", "people")} have the field; ${roster.unique} of them alone.`,
    `Of the last ${counted(signIns.tried, "sign-in")}, ${refused} would be refused${codes && ` (${codes})`}, ` +
      `${signIns.another} would be somebody else.`,
    `Of ${counted(refusals.tried, "refused account")}, ${refusals.letIn} would be let in.`,
  ];
  return { lines, data: preview };
}

const wayInPath = "/admin/v1/schools/{schoolId}/way-in";

const showWayIn = (wayIn: Schemas["WayIn"]): Result => ({
  lines: recordLines({
    address: wayIn.url,
    passwords: wayIn.localPasswords ? "accepted" : "not accepted",
    "accepted until": wayIn.emergencyUntil,
  }),
  data: wayIn,
});

/** How people reach the login of a school. */
const wayInVerbs: Verbs = {
  "way-in": makeApiCommand({
    summary: "Show or change how people reach the login of a school.",
    args: argsNamed("schoolId"),
    options: {
      linkName: option.text("The school's address is /s/<link name>.", "link-name"),
      noLinkName: option.flag("Give the school no address."),
      localPasswords: option.oneOf(["yes", "no"] as const, "Whether passwords of this service are accepted."),
    },
    run: async ({ api }, { args: path, options: { linkName, noLinkName, localPasswords } }) => {
      if (linkName !== undefined && noLinkName) throw new UsageError("Give --link-name or --no-link-name.");
      const read = () => api.GET(wayInPath, { params: { path } });
      const change = omitUndefined({
        linkName: noLinkName ? null : linkName,
        localPasswords: localPasswords && localPasswords === "yes",
      });
      if (isEmpty(change)) return showWayIn(await bodyOf(read()));
      const changed = await updateRecord({
        read,
        change: (before, header) => {
          const body = { linkName: before.linkName, localPasswords: before.localPasswords, ...change };
          return api.PUT(wayInPath, { params: { path, header }, body });
        },
      });
      return updated("Way in", path.schoolId, changed);
    },
  }),
  emergency: makeApiCommand({
    summary: "Accept passwords at a school for a day, because its own login fails.",
    args: argsNamed("schoolId"),
    options: { end: option.flag("End it now.") },
    run: async ({ api }, { args: path, options: { end } }) => {
      const emergency = `${wayInPath}/emergency` as const;
      await (end ? api.DELETE(emergency, { params: { path } }) : api.POST(emergency, { params: { path } }));
      return done(end ? "Ended." : "Passwords are accepted for a day.", { id: path.schoolId, isOpen: !end });
    },
  }),
};

export const verbs: Verbs = {
  accept: makeApiCommand({
    summary: "Accept an account that waits for staff as a guest of the school, whom apps see from then on.",
    args: argsNamed("connectionId", "refusalId"),
    run: async ({ api }, { args: { connectionId, refusalId } }) => {
      const params = { path: { connectionId }, ...withIdempotencyKey() };
      const body = { refusalIds: [refusalId] };
      const accepting = api.POST("/admin/v1/upstream-connections/{connectionId}/guests", { params, body });
      const { personIds } = await bodyOf(accepting);
      return made(personIds[0]!);
    },
  }),
  ...wayInVerbs,
};

export const extensions: Extensions = {
  create: emptying(emptyValues),
  update: emptying(emptyValues),
  preview: { ...emptying(emptyRule), print: showPreview },
  check: { print: showCheck },
};
