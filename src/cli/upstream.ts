import { type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Verbs } from "./command.ts";
import type { Extension, Extensions } from "./contract-commands.ts";
import { done, recordLines } from "./lines.ts";
import { argsNamed, option } from "./option.ts";

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

const emergency = "/admin/v1/schools/{schoolId}/way-in/emergency";

export const verbs: Verbs = {
  emergency: makeApiCommand({
    summary: "Accept passwords at a school for a day, because its own login fails.",
    args: argsNamed("schoolId"),
    options: { end: option.flag("End it now.") },
    run: async ({ api }, { args: path, options: { end } }) => {
      await (end ? api.DELETE(emergency, { params: { path } }) : api.POST(emergency, { params: { path } }));
      return done(end ? "Ended." : "Passwords are accepted for a day.", { id: path.schoolId, isOpen: !end });
    },
  }),
};

export const extensions: Extensions = {
  create: emptying(emptyValues),
  update: emptying(emptyValues),
  preview: emptying(emptyRule),
  check: { print: showCheck },
};
