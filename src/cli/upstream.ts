import { bodyOf, isEmpty, listFirst, makeBody, omitUndefined, updateRecord, withIdempotencyKey } from "./admin-api.ts";
import type { Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Verbs } from "./command.ts";
import type { Extensions } from "./contract-commands.ts";
import { counted, defaultLimit, done, listOptions, listResult, made, recordLines, updated } from "./lines.ts";
import type { Columns } from "./lines.ts";
import { option, required } from "./option.ts";
import {
  connectionLines,
  profiles,
  readRule,
  readSettings,
  ruleOptions,
  settingsOptions,
  yes,
  yesNo,
} from "./upstream-settings.ts";
import { setUpVerbs } from "./upstream-set-up.ts";
import { argsNamed, argsOf } from "./verbs.ts";

type Connection = Schemas["UpstreamConnection"];

const connections = "/admin/v1/upstream-connections";
const one = `${connections}/{connectionId}` as const;
const args = argsOf(one);

const columns: Columns<Connection> = {
  id: ({ id }) => id,
  school: ({ schoolName }) => schoolName,
  name: ({ name }) => name,
  profile: ({ profile }) => profile,
  state: ({ state }) => state,
  "failing since": ({ failingSince }) => failingSince,
  failure: ({ failingSince, lastFailure }) => failingSince && lastFailure,
  "secret expires": ({ secretExpiresAt }) => secretExpiresAt,
};

const setsState = (state: "ON" | "OFF", { summary, line }: { summary: string; line: string }) =>
  makeApiCommand({
    summary,
    args,
    run: async ({ api }, { args: path }) => {
      await api.PATCH(one, { params: { path }, body: { state } });
      return done(line, { id: path.connectionId, state });
    },
  });

function showCheck(found: Schemas["UpstreamCheck"]): Result {
  const { isReached, authorizationEndpoint, tokenEndpoint, userinfoEndpoint, jwksUri, failure, detail } = found;
  const endpoints = { authorization: authorizationEndpoint, token: tokenEndpoint, userinfo: userinfoEndpoint };
  const lines = isReached
    ? recordLines({ ...endpoints, keys: jwksUri })
    : [`${failure}${detail === null ? "" : `: ${detail}`}`];
  return { lines, data: found, hasFailed: !isReached };
}

function showPreview(found: Schemas["UpstreamRulePreview"]): Result {
  const { roster, signIns, refusals } = found;
  const refused = signIns.refused.reduce((sum, { count }) => sum + count, 0);
  const codes = signIns.refused.map(({ code, count }) => `${code} ${count}`).join(", ");
  const lines = [
    `${roster.withKey} of ${counted(roster.people, "person", "people")} have the field; ${roster.unique} of them alone.`,
    `Of the last ${counted(signIns.tried, "sign-in")}, ${refused} would be refused${codes && ` (${codes})`}, ` +
      `${signIns.another} would be somebody else.`,
    `Of ${counted(refusals.tried, "refused account")}, ${refusals.letIn} would be let in.`,
  ];
  return { lines, data: found };
}

/** Connections to logins of schools. */
const connectionVerbs: Verbs = {
  list: makeApiCommand({
    summary: "List the connections of a school, or of all schools.",
    options: {
      school: option.school("Only those of this school."),
      failing: option.flag("Only those whose sign-ins fail."),
      secretExpiring: option.flag("Only those whose secret expires within 30 days or has expired."),
      limit: listOptions.limit,
      after: listOptions.after,
    },
    run: async ({ api }, { options: { school, failing, secretExpiring, limit = defaultLimit, after } }) => {
      const flags = { ...(failing && { failing }), ...(secretExpiring && { "secret-expiring": true }) };
      const query = { ...omitUndefined({ school }), ...flags };
      const read = (page: object) => api.GET(connections, { params: { query: { ...query, ...page } } });
      return listResult("connections", await listFirst(read, { limit: limit + 1, after }), limit, columns);
    },
  }),
  create: makeApiCommand({
    summary: "Connect a login that a school has elsewhere. It is a draft until it is tested and switched on.",
    options: {
      school: required(option.school("The school.")),
      profile: required(option.oneOf(profiles, "The kind of provider.")),
      name: required(option.text("What the button says, such as IServ.")),
      ...settingsOptions,
    },
    run: async ({ api }, { options }) => {
      const { school: schoolId, profile, name } = options;
      const settings = { schoolId, profile, name, ...(await readSettings(options)) };
      const body = makeBody<Schemas["UpstreamConnectionInput"]>(settings);
      return made((await bodyOf(api.POST(connections, { params: withIdempotencyKey(), body }))).id);
    },
  }),
  update: makeApiCommand({
    summary:
      "Change a connection. A new issuer, tenant or subject claim unlinks everybody. Give --secret-file too with a new issuer, client id or auth method: the secret before is removed, because it is sent only where it was typed for.",
    args,
    options: {
      name: option.text("What the button says."),
      ...settingsOptions,
      confirmedForStaff: option.oneOf(yesNo, "Whether people other than pupils sign in: yes after a set-up link."),
    },
    run: async ({ api }, { args: path, options }) => {
      const { name, confirmedForStaff } = options;
      const settings = {
        name,
        state: undefined,
        confirmedForStaff: yes(confirmedForStaff),
        ...(await readSettings(options)),
      };
      const body = makeBody<Schemas["UpstreamConnectionUpdate"]>(settings);
      const changed = await updateRecord({
        read: () => api.GET(one, { params: { path } }),
        change: (_before, header) => (isEmpty(body) ? null : api.PATCH(one, { params: { path, header }, body })),
      });
      return updated("Connection", path.connectionId, changed);
    },
  }),
  preview: makeApiCommand({
    summary: "Try the rule of a connection, or another one, on the roster and the latest sign-ins. Nothing changes.",
    args,
    options: ruleOptions,
    run: async ({ api }, { args: path, options }) =>
      showPreview(await bodyOf(api.POST(`${one}/rule-preview`, { params: { path }, body: readRule(options) }))),
  }),
  on: setsState("ON", { summary: "Let people sign in through a connection.", line: "Connection switched on." }),
  off: setsState("OFF", { summary: "Let nobody sign in through a connection.", line: "Connection switched off." }),
};

const guests = `${one}/guests` as const;

const acceptVerbs: Verbs = {
  accept: makeApiCommand({
    summary: "Accept an account that waits for staff as a guest of the school, whom apps see from then on.",
    args: argsNamed("connectionId", "refusalId"),
    run: async ({ api }, { args: { connectionId, refusalId } }) => {
      const params = { path: { connectionId }, ...withIdempotencyKey() };
      const body = { refusalIds: [refusalId] };
      const { personIds } = await bodyOf(api.POST(guests, { params, body }));
      return made(personIds[0]!);
    },
  }),
};

export const verbs: Verbs = { ...connectionVerbs, ...acceptVerbs, ...setUpVerbs };

const refusalColumns: Columns<Schemas["UpstreamRefusal"]> = {
  id: ({ id }) => id,
  reason: ({ code }) => code,
  name: ({ displayName }) => displayName,
  claim: ({ ruleClaim, ruleValue }) => ruleClaim && `${ruleClaim} = ${ruleValue ?? "(missing)"}`,
  matches: ({ matches }) => String(matches),
  tries: ({ tries }) => String(tries),
  last: ({ lastAt }) => lastAt,
};

export const extensions: Extensions = {
  refusals: { columns: refusalColumns },
  show: { print: (shown: Connection) => ({ lines: connectionLines(shown), quiet: [shown.id], data: shown }) },
  check: { print: showCheck },
};
