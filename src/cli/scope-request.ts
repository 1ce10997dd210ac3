import { scopeNames } from "../access/token.ts";
import { bodyOf, withIdempotencyKey, type Schemas } from "./admin-api.ts";
import { makeApiCommand, type Result, type Verbs } from "./command.ts";
import { done, made } from "./lines.ts";
import { option, required } from "./option.ts";
import { argsOf, lists } from "./verbs.ts";

const decided = (request: Schemas["ScopeRequest"]): Result =>
  done(`Request ${request.state === "APPROVED" ? "approved" : "refused"}: ${request.scopes.join(" ")}.`, request);

const oneRequest = "/admin/v1/scope-requests/{scopeRequestId}";
const ofApp = "/admin/v1/apps/{clientId}/scope-requests";
const args = argsOf(oneRequest);

export const verbs: Verbs = {
  list: lists("/admin/v1/scope-requests", {
    summary: "List the scopes that partners ask for, the newest request first.",
    name: "requests",
    options: {
      app: option.text("Only requests of this app.", "client-id"),
      state: option.oneOf(["REQUESTED", "APPROVED", "REFUSED"] as const, "Only requests in this state."),
    },
    columns: {
      id: ({ id }) => id,
      state: ({ state }) => state,
      app: ({ clientId }) => clientId,
      scopes: ({ scopes }) => scopes.join(" "),
      reason: ({ reason }) => reason,
      requested: ({ requestedAt }) => requestedAt,
      note: ({ note }) => note,
    },
  }),
  create: makeApiCommand({
    summary: "Ask an operator for scopes that an app does not have. An app can have one open request.",
    args: argsOf(ofApp),
    options: {
      scope: required(option.someOf(scopeNames, "Scopes that it needs, such as people:read.")),
      reason: required(option.text("Why it needs them; the operator reads it.")),
    },
    run: async ({ api }, { args: path, options: { scope, reason } }) => {
      const params = { path, ...withIdempotencyKey() };
      const body = { scopes: [...new Set(scope)], reason };
      return made((await bodyOf(api.POST(ofApp, { params, body }))).id);
    },
  }),
  approve: makeApiCommand({
    summary: "Approve a request: the app has the scopes at once.",
    args,
    options: { note: option.text("What the partner reads.") },
    run: async ({ api }, { args: path, options: { note } }) => {
      const sent = note === undefined ? {} : { body: { note } };
      return decided(await bodyOf(api.POST(`${oneRequest}/approval`, { params: { path }, ...sent })));
    },
  }),
  refuse: makeApiCommand({
    summary: "Refuse a request.",
    args,
    options: { note: required(option.text("Why; the partner reads it.")) },
    run: async ({ api }, { args: path, options: { note } }) =>
      decided(await bodyOf(api.POST(`${oneRequest}/refusal`, { params: { path }, body: { note } }))),
  }),
};
