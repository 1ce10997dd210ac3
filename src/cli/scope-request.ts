import { bodyOf, omitUndefined, readListResult, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Noun, type Result } from "./command.ts";
import { done, listOptions, type Columns } from "./lines.ts";
import { argument, option, required } from "./option.ts";

type ScopeRequest = Schemas["ScopeRequest"];

const states: readonly ScopeRequest["state"][] = ["REQUESTED", "APPROVED", "REFUSED"];
const args = { request: argument.id() };

const columns: Columns<ScopeRequest> = {
  id: ({ id }) => id,
  state: ({ state }) => state,
  app: ({ clientId }) => clientId,
  scopes: ({ scopes }) => scopes.join(" "),
  reason: ({ reason }) => reason,
  requested: ({ requestedAt }) => requestedAt,
  note: ({ note }) => note,
};

const decided = (request: ScopeRequest): Result =>
  done(`Request ${request.state === "APPROVED" ? "approved" : "refused"}: ${request.scopes.join(" ")}.`, request);

const oneRequest = "/admin/v1/scope-requests/{scopeRequestId}";

export const scopeRequest: Noun = {
  verbs: {
    list: makeApiCommand({
      summary: "List the scopes that partners ask for, the newest request first.",
      options: {
        app: option.text("Only requests of this app.", "client-id"),
        state: option.oneOf(states, "Only requests in this state."),
        limit: listOptions.limit,
        after: listOptions.after,
      },
      run: ({ api }, { options: { app, state, ...part } }) => {
        const query = omitUndefined({ app, state });
        const read = (page: object) =>
          api.GET("/admin/v1/scope-requests", { params: { query: { ...query, ...page } } });
        return readListResult("requests", read, { ...part, columns });
      },
    }),
    approve: makeApiCommand({
      summary: "Approve a request: the app has the scopes at once.",
      args,
      options: { note: option.text("What the partner reads.") },
      run: async ({ api }, { args: { request: scopeRequestId }, options: { note } }) => {
        const params = { path: { scopeRequestId } };
        const sent = note === undefined ? {} : { body: { note } };
        return decided(await bodyOf(api.POST(`${oneRequest}/approval`, { params, ...sent })));
      },
    }),
    refuse: makeApiCommand({
      summary: "Refuse a request.",
      args,
      options: { note: required(option.text("Why; the partner reads it.")) },
      run: async ({ api }, { args: { request: scopeRequestId }, options: { note } }) => {
        const params = { path: { scopeRequestId } };
        return decided(await bodyOf(api.POST(`${oneRequest}/refusal`, { params, body: { note } })));
      },
    }),
  },
};
