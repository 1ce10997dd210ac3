import { decideScopeRequest, listScopeRequests, type ClientId, type ScopeRequest } from "../access/index.ts";
import { withPrismaTransaction } from "../platform/database/db.ts";
import { inDatabase } from "./change.ts";
import { makeCommand, type Noun, type Result, type Tools } from "./command.ts";
import { defaultLimit, done, listOptions, listResult, timeOf, type Columns } from "./lines.ts";
import { argument, option, required } from "./option.ts";
import * as far from "./remote/scope-request.ts";

const states: readonly ScopeRequest["state"][] = ["REQUESTED", "APPROVED", "REFUSED"];
const takes = { request: argument.id() };

const columns: Columns<ScopeRequest> = {
  id: ({ id }) => id,
  state: ({ state }) => state,
  app: ({ clientId }) => clientId,
  scopes: ({ scopes }) => scopes.join(" "),
  reason: ({ reason }) => reason,
  requested: ({ requestedAt }) => timeOf(requestedAt),
  note: ({ note }) => note,
};

/** Shape: fields in the order in which they are printed. */
const shown = (one: ScopeRequest): ScopeRequest => {
  const { id, clientId, appName, scopes, reason, state, requestedAt, decidedAt, note } = one;
  return { id, clientId, appName, scopes, reason, state, requestedAt, decidedAt, note };
};

const show = (requests: readonly ScopeRequest[], limit: number): Result =>
  listResult("requests", requests.map(shown), limit, columns);

const decided = (request: ScopeRequest): Result =>
  done(
    `Request ${request.state === "APPROVED" ? "approved" : "refused"}: ${request.scopes.join(" ")}.`,
    shown(request),
  );

const decide = (tools: Tools, decision: { id: string; state: "APPROVED" | "REFUSED"; note: string | null }) =>
  inDatabase(tools, async (_db, whole) => {
    const origin = { ...tools.origin(), allowLoopbackHttp: !tools.config.production };
    return decided((await withPrismaTransaction(whole, (tx) => decideScopeRequest(tx, decision, origin))).after);
  });

export const scopeRequest: Noun = {
  verbs: {
    list: makeCommand({
      summary: "List the scopes that partners ask for, the newest request first.",
      options: {
        app: option.text("Only requests of this app.", "client-id"),
        state: option.oneOf(states, "Only requests in this state."),
        limit: listOptions.limit,
        after: listOptions.after,
      },
      run: async (tools, { options: { app, state, after, limit = defaultLimit } }) => {
        const asked = { clientId: app as ClientId | undefined, state, after, limit: limit + 1 };
        return show(await inDatabase(tools, (db) => listScopeRequests(db, asked)), limit);
      },
      remote: async (remote, { options: { app, state, after, limit = defaultLimit } }) => {
        const asked = { clientId: app as ClientId | undefined, state, after, limit: limit + 1 };
        return show(await far.listScopeRequests(remote, asked), limit);
      },
    }),
    approve: makeCommand({
      summary: "Approve a request: the app has the scopes at once.",
      takes,
      options: { note: option.text("What the partner reads.") },
      run: (tools, { given: { request: id }, options: { note } }) =>
        decide(tools, { id, state: "APPROVED", note: note ?? null }),
      remote: async (remote, { given, options: { note } }) =>
        decided(await far.approveScopeRequest(remote, given.request, note)),
    }),
    refuse: makeCommand({
      summary: "Refuse a request.",
      takes,
      options: { note: required(option.text("Why; the partner reads it.")) },
      run: (tools, { given: { request: id }, options: { note } }) => decide(tools, { id, state: "REFUSED", note }),
      remote: async (remote, { given, options: { note } }) =>
        decided(await far.refuseScopeRequest(remote, given.request, note)),
    }),
  },
};
