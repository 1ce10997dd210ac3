import {
  checkBackchannelLogoutUri,
  createApp,
  deleteApp,
  endOldSecret,
  findApp,
  listApps,
  rotateClientSecret,
  scopeNames,
  updateApp,
} from "../access/index.ts";
import type { App, ClientId, Registration } from "../access/index.ts";
import { withPrismaTransaction } from "../platform/db.ts";
import type { Transaction } from "../platform/db.ts";
import { done, found, inDatabase } from "./change.ts";
import { makeCommand, type Noun, type Tools } from "./command.ts";
import { recordLines, wholeList } from "./lines.ts";
import { argument, option, readDuration, required, UsageError } from "./option.ts";
import { policyOf, withPolicyHint } from "./outbound-policy.ts";

const takes = { app: argument.text<ClientId>() };

const properties = {
  name: option.text("Its name, as people see it."),
  redirectUri: option.texts("Where people are sent back to; compared letter by letter.", "uri"),
  postLogoutRedirectUri: option.texts("Where people are sent after a logout; compared letter by letter.", "uri"),
  loginUrl: option.text("Where its tile leads.", "url"),
  backchannelLogoutUri: option.text("Where it is notified of logouts.", "uri"),
  scope: option.someOf(scopeNames, "Scopes it may ask for, such as schools:read."),
  idTokenAlgorithm: option.oneOf(["RS256", "ES256", "EdDSA"] as const, "How its ID tokens are signed."),
  schulconnexSpelling: option.oneOf(["V1_4", "V1_7"] as const, "How it reads Schulconnex codes."),
  noPkce: option.flag("Do not require PKCE; confidential apps only."),
  pkce: option.flag("Require PKCE; the default for a new app."),
};

const write = <T>({ withDatabase }: Tools, work: (tx: Transaction) => Promise<T>): Promise<T> =>
  withDatabase(({ db }) => withPrismaTransaction(db, work));

type Written = {
  name?: string | undefined;
  redirectUri?: readonly string[] | undefined;
  postLogoutRedirectUri?: readonly string[] | undefined;
  loginUrl?: string | undefined;
  backchannelLogoutUri?: string | undefined;
  scope?: App["scopes"] | undefined;
  idTokenAlgorithm?: App["idTokenAlgorithm"] | undefined;
  schulconnexSpelling?: App["schulconnexSpelling"] | undefined;
  noPkce: boolean;
  pkce: boolean;
};

/** The fields of a registration that were given. Errors: UsageError. */
async function readRegistration(
  tools: Tools,
  written: Written,
): Promise<Partial<Omit<Registration, "clientId" | "type">>> {
  const {
    name,
    redirectUri,
    postLogoutRedirectUri,
    loginUrl,
    backchannelLogoutUri,
    scope,
    idTokenAlgorithm,
    schulconnexSpelling,
    noPkce,
    pkce,
  } = written;
  if (pkce && noPkce) throw new UsageError("Give --pkce or --no-pkce, not both.");
  return {
    ...(name !== undefined && { name }),
    ...(redirectUri && { redirectUris: [...redirectUri] }),
    ...(postLogoutRedirectUri && { postLogoutRedirectUris: [...postLogoutRedirectUri] }),
    ...(loginUrl !== undefined && { loginUrl }),
    ...(backchannelLogoutUri !== undefined && {
      backchannelLogoutUri: await withPolicyHint(checkBackchannelLogoutUri(backchannelLogoutUri, policyOf(tools))),
    }),
    ...(scope && { scopes: [...new Set(scope)] }),
    ...(idTokenAlgorithm && { idTokenAlgorithm }),
    ...(schulconnexSpelling && { schulconnexSpelling }),
    ...((pkce || noPkce) && { pkceRequired: pkce }),
  };
}

/** A registration without the hashes of secrets, and with the end of the old one while it is valid. */
function shownOf({ secretHash: _, oldSecretHash: _old, oldSecretEndsAt, ...app }: App, now: Date) {
  return { ...app, oldSecretEndsAt: oldSecretEndsAt !== null && oldSecretEndsAt > now ? oldSecretEndsAt : null };
}

type Shown = ReturnType<typeof shownOf>;

const defaultOverlap = "24h";

const shownValue = (value: unknown): string | null => {
  if (value instanceof Date) return value.toISOString();
  return Array.isArray(value) ? value.join(" ") : value === null ? null : String(value as string | boolean);
};

const secretLines = (secret: string | null): string[] =>
  secret === null ? [] : [`Client secret: ${secret}`, "The secret is not shown again."];

const origins = ({ config, origin }: Tools) => ({ ...origin(), allowLoopbackHttp: !config.production });

export const app: Noun = {
  verbs: {
    create: makeCommand({
      summary: "Register an app. A confidential one gets a secret, which is shown only once.",
      options: {
        ...properties,
        name: required(properties.name),
        type: option.oneOf(
          ["CONFIDENTIAL", "PUBLIC"] as const,
          "Whether it can keep a secret; CONFIDENTIAL if left out.",
        ),
        clientId: option.text("Its client id, where it has one already."),
      },
      run: async (tools, { options: { type = "CONFIDENTIAL", clientId, name, ...rest } }) => {
        const id = clientId === undefined ? {} : { clientId: clientId as ClientId };
        const registration = {
          scopes: [],
          redirectUris: [],
          ...(await readRegistration(tools, rest)),
          ...id,
          name,
          type,
        };
        const made = await write(tools, (tx) => createApp(tx, registration, origins(tools)));
        const lines = [`Client id: ${made.clientId}`, ...secretLines(made.clientSecret)];
        return { lines, quiet: [made.clientId, made.clientSecret].filter((one) => one !== null), data: made };
      },
    }),
    update: makeCommand({
      summary: "Change what is given of a registration; a list is replaced as a whole.",
      takes,
      options: properties,
      run: async (tools, { given, options }) => {
        const update = await readRegistration(tools, options);
        if (Object.keys(update).length > 0)
          await write(tools, (tx) => updateApp(tx, { clientId: given.app, ...update }, origins(tools)));
        const changed = Object.keys(update);
        return done(changed.length === 0 ? "No change." : "App updated.", { clientId: given.app, changed });
      },
    }),
    "rotate-secret": makeCommand({
      summary: "Give an app a new secret, which is shown only once. The present one stays valid for a time.",
      takes,
      options: {
        keepOldFor: option.duration(
          `How long both are valid, such as 7d or 12h; ${defaultOverlap} if left out, 0 for a secret that leaked.`,
        ),
      },
      run: async (tools, { given, options: { keepOldFor = readDuration(defaultOverlap) } }) => {
        const rotated = await write(tools, (tx) =>
          rotateClientSecret(tx, { clientId: given.app, keepOldSeconds: keepOldFor }, tools.origin()),
        );
        const { oldSecretEndsAt } = rotated;
        const end =
          oldSecretEndsAt === null
            ? "The old one is no longer valid."
            : `The old one is valid until ${oldSecretEndsAt.toISOString()}.`;
        return {
          lines: [...secretLines(rotated.clientSecret), end],
          quiet: [rotated.clientSecret],
          data: { clientId: given.app, ...rotated },
        };
      },
    }),
    "end-old-secret": makeCommand({
      summary: "End the old secret before its time is over.",
      takes,
      run: async (tools, { given }) => {
        await write(tools, (tx) => endOldSecret(tx, given.app, tools.origin()));
        return done("Old secret ended.", { clientId: given.app });
      },
    }),
    delete: makeCommand({
      summary: "Delete an app with everything that belongs to it, at once. Its client id is never used again.",
      takes,
      irreversible: "This deletes the app with its grants, consents, tokens, events and webhooks.",
      run: async (tools, { given }) => {
        const { forgetApp } = await import("../sign-on/index.ts");
        const { listEndpoints, removeDeliveries } = await import("../webhooks/index.ts");
        await inDatabase(tools, async (_db, db) => {
          const endpoints = await listEndpoints(db, { clientId: given.app });
          await deleteApp(db, given.app, { origin: tools.origin(), forget: forgetApp });
          await removeDeliveries(
            db,
            endpoints.map(({ id }) => id),
          );
        });
        return done("App deleted.", { clientId: given.app });
      },
    }),
    show: makeCommand({
      summary: "Show one registration.",
      takes,
      run: async (tools, { given }) => {
        const registered = found(
          await inDatabase(tools, (db) => findApp(db, given.app)),
          "app_not_found",
          "The app does not exist.",
        );
        const shown = shownOf(registered, tools.clock());
        return {
          lines: recordLines(
            Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, shownValue(value)])),
          ),
          quiet: [shown.clientId],
          data: shown,
        };
      },
    }),
    list: makeCommand({
      summary: "List all apps by name.",
      run: async (tools) => {
        const apps = await inDatabase(tools, (db) => listApps(db));
        const shown = apps.map((registered) => shownOf(registered, tools.clock()));
        const columns = {
          "client id": ({ clientId }: Shown) => clientId,
          type: ({ type }: Shown) => type,
          name: ({ name }: Shown) => name,
        };
        return wholeList("apps", shown, { columns, id: ({ clientId }) => clientId });
      },
    }),
  },
};
