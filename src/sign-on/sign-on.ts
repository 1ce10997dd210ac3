import { type Request, type Response, Router } from "express";
import type { Provider } from "oidc-provider";
import type { CheckAccessToken, ClientId } from "../access/index.ts";
import type { PersonId } from "../directory/index.ts";
import { makeGuardedSender } from "../platform/outbound/guarded-request.ts";
import { makeReadAddress } from "../platform/server/client-address.ts";
import { makeAnswerCheck, type OpenApiDocument } from "../platform/http/index.ts";
import type { DatabaseShares } from "../platform/database/shares.ts";
import type { PrismaDb } from "../platform/database/db.ts";
import type { WorkerJob } from "../platform/jobs/worker.ts";
import {
  makeCardMaker,
  makeCardSweep,
  makeClassCodeMaker,
  makeCheckPassword,
  makePseudonym,
  makeVoidSignInsJob,
  sweepSignInTraces,
  type MakeCard,
  type MakeClassCode,
} from "../accounts/index.ts";
import { makeCardSignIn } from "./forms/cards/sign-in.ts";
import { makeClassListSignIn } from "./forms/class-list/sign-in.ts";
import { makeOwnPicturesRouter } from "./forms/class-list/own-pictures.ts";
import { readContract } from "./protocol/contract.ts";
import type { InteractionDeps, ProviderDeps } from "./protocol/deps.ts";
import { makeInteractionRouter } from "./forms/interaction/steps.ts";
import { makeReadPublishedKeys } from "./protocol/keys/published-keys.ts";
import { ensureSigningKeys, makeRetiredKeysJob } from "./protocol/keys/rotation.ts";
import { loadSharedSecrets } from "./protocol/keys/shared-secrets.ts";
import { findKeysVersion, listSigningKeys, type SigningKey, makeKeyWatch } from "./protocol/keys/signing-keys.ts";
import { makeLoginHint } from "./protocol/login-hint.ts";
import { makeLogoutJob, makeSender } from "./protocol/logout/job.ts";
import { renderErrorPage } from "./forms/pages/index.ts";
import { makeMount, type Mount } from "./protocol/mount.ts";
import { type Count, observeProvider, observeUpstream } from "./protocol/observe.ts";
import { makeOwnPasswordRouter } from "./forms/own-password.ts";
import { makePlatformSignIn } from "./forms/platform-sign-in.ts";
import { makeFindClientKeys } from "./protocol/provider/client.ts";
import { makeProvider } from "./protocol/provider/make-provider.ts";
import { makeShowPages } from "./forms/provider-pages.ts";
import { makeUpstreamSteps } from "./forms/upstream/library-steps.ts";
import { makeUpstreamRouter } from "./forms/upstream/router.ts";
import { noteSignedOut } from "./forms/last-sign-in.ts";
import { signOut } from "./forms/complete-sign-in.ts";
import { nameBrowser } from "./forms/page-request.ts";
import type { Upstream } from "../upstream/index.ts";
import { needsSecondFactor } from "./protocol/scopes.ts";
import { makeConfirmRouter } from "./forms/second-factor/confirm.ts";
import { makeOfferRouter } from "./forms/second-factor/offer.ts";
import { makeSetUpRouter } from "./forms/second-factor/set-up.ts";
import { findSignedIn, type SignedIn } from "./protocol/signed-in.ts";
import { makeDbByRoute, makeStoreByRoute } from "./protocol/storage/store.ts";
import { makeCheckAccessToken } from "./protocol/storage/check-access-token.ts";
import { makeLimitTokens } from "./protocol/storage/write.ts";
import { makeClientTokensJob, makeSweepJob } from "./protocol/storage/sweep.ts";

export type SignOnOptions = Pick<
  ProviderDeps,
  "clock" | "log" | "issuerUrl" | "platform" | "lifetimes" | "staffSecondFactor" | "withoutPkce"
> & {
  shares: Pick<DatabaseShares, "checks" | "signOn" | "tokens" | "firstSignIns" | "jobs">;
  /** openapi/sign-on.yaml, with the operator's name in its scopes. */
  document: OpenApiDocument;
  /** Checks every response against the document, for development and tests. */
  checkAnswers: boolean;
  /** The first encrypts, each can decrypt. */
  encryptionKeys: readonly Buffer[];
  passwordHashConcurrency?: number;
  /** Development only: apps on this machine are notified of logouts, and their key sets are read. */
  allowPrivateAddresses: boolean;
  count?: Count;
  upstream: Upstream;
  /** Proxies whose `X-Forwarded-For` decides which address a limit counts. */
  trustedProxies: string[];
};

export type SignOn = {
  /** For "/", before any body parser. */
  router: Router;
  answerBusy: Mount["answerBusy"];
  checkAccessToken: CheckAccessToken;
  findSignedIn(req: Request, res: Response): Promise<SignedIn | null>;
  findSignedInPerson(req: Request, res: Response): Promise<PersonId | null>;
  /** Whether the admin API accepts a token of the person only with a second factor. */
  needsSecondFactor(personId: PersonId): Promise<boolean>;
  /** The secret of this browser that a round trip to the login of a school is bound to; it lasts so many seconds. */
  nameBrowser(req: Request, res: Response, seconds: number): string;
  /** Stores in the browser that its session was ended by the person. */
  noteSignedOut(req: Request, res: Response): void;
  /** Ends the session of this browser. Returns where the browser goes. */
  signOut(req: Request, res: Response): Promise<string>;
  /** For pages; null for a person without a name. */
  findPersonName(personId: PersonId): Promise<string | null>;
  makeLoginHint(personId: string, clientId: string): string;
  makePseudonym(pair: { clientId: ClientId; personId: PersonId }): string;
  makeCard: MakeCard;
  makeClassCode: MakeClassCode;
  /** Makes the host key of the SFTP server. */
  sftpHostSecret: Buffer;
  jobs: WorkerJob[];
  close(): Promise<void>;
};

export async function makeSignOn(options: SignOnOptions): Promise<SignOn> {
  const { shares, clock, log, issuerUrl, platform, lifetimes, encryptionKeys: keys } = options;
  const contract = readContract(options.document);
  const readAddress = makeReadAddress(options.trustedProxies);
  const { signOn: db, firstSignIns, jobs } = shares;
  const secrets = await loadSharedSecrets(db, keys, clock());
  await ensureSigningKeys(db, keys, clock());

  const store = makeStoreByRoute(shares, options.clock);
  const limitTokens = makeLimitTokens({ db: shares.tokens, clock });
  const keySets = makeGuardedSender({ allowPrivateAddresses: options.allowPrivateAddresses, timeoutMs: 3000 });
  const findClientKeys = makeFindClientKeys(keySets.get, clock);
  const findPersonName = makeFindPersonName(db);
  const pages = { ...makeShowPages(findPersonName), ...makeUpstreamSteps(() => deps) };
  const readPublishedKeys = await makeReadPublishedKeys({ db, clock, idTokenSeconds: lifetimes.idTokenSeconds });
  let signingKeys: readonly SigningKey[];
  let provider: Provider;
  const useCurrentKeys = async () => {
    signingKeys = await listSigningKeys(db.pool, keys);
    provider = makeProvider(
      {
        db: makeDbByRoute(shares),
        firstSignIns,
        store,
        clock,
        log,
        issuerUrl,
        platform,
        contract,
        lifetimes,
        staffSecondFactor: options.staffSecondFactor,
        withoutPkce: options.withoutPkce,
        secrets,
        signingKeys,
        readPublishedKeys,
        readAddress,
        findClientKeys,
        limitTokens,
      },
      pages,
    );
    observeProvider(provider, options.count);
  };
  const version = await findKeysVersion(db.pool);
  await useCurrentKeys();

  const { passwordHashConcurrency: atOnce } = options;
  const classify = makeCheckPassword({ db, key: secrets.signInTraces, ...(atOnce !== undefined && { atOnce }) });
  const checkPassword: typeof classify = async (attempt) => {
    const result = await classify(attempt);
    options.count?.signIn(result.kind);
    return result;
  };
  const deps: InteractionDeps = {
    db,
    clock,
    issuerUrl,
    secrets,
    encryptionKeys: keys,
    checkPassword,
    store,
    findPersonName,
    sessionSeconds: lifetimes.sessionSeconds,
    staffSecondFactor: options.staffSecondFactor,
    upstream: observeUpstream(options.upstream, options.count),
    provider: () => provider,
    answer: (req, res) => mount.answer(req, res),
  };
  const sender = makeSender(options);
  const mount = makeMount({
    issuerUrl,
    provider: deps.provider,
    contract,
    checkAnswer: options.checkAnswers ? makeAnswerCheck(options.document, log) : null,
    renderRefusal: renderErrorPage,
  });
  return {
    router: Router().use(mount.router, makeInteractionRouter(deps), ...makePlatformPages(deps)),
    answerBusy: mount.answerBusy,
    checkAccessToken: makeCheckAccessToken({ db: shares.checks, clock }),
    needsSecondFactor: (personId) => needsSecondFactor(deps, personId),
    findSignedIn: (req, res) => findSignedIn(deps, req, res),
    findSignedInPerson: async (req, res) => (await findSignedIn(deps, req, res))?.personId ?? null,
    nameBrowser: (req, res, seconds) => nameBrowser({ deps, req, res }, seconds),
    noteSignedOut: (req, res) => noteSignedOut({ deps, req, res }),
    signOut: (req, res) => signOut({ deps, req, res }),
    findPersonName,
    makeCard: makeCardMaker({ issuerUrl, key: secrets.cardAnswers }),
    makeClassCode: makeClassCodeMaker(secrets.cardAnswers),
    makePseudonym: (pair) => makePseudonym(secrets.pseudonyms, pair),
    makeLoginHint: (personId, clientId) => makeLoginHint(secrets.loginHint, personId, clientId),
    sftpHostSecret: secrets.sftpHost,
    jobs: [
      makeKeyWatch(jobs, version, useCurrentKeys),
      makeRetiredKeysJob({ db: jobs, clock, lifetimes }),
      makeSweepJob({ db: jobs, clock }),
      makeClientTokensJob({ db: jobs }),
      makeCardSweep({ db: jobs, clock }),
      {
        name: "sign-on.sweepTraces",
        everySeconds: 300,
        run: async (signal) => void (await sweepSignInTraces(jobs.pool, clock(), signal)),
      },
      makeVoidSignInsJob({ db: jobs, clock }),
      makeLogoutJob({
        db: jobs,
        clock,
        log,
        issuerUrl,
        sender,
        sessionIds: secrets.sessionIds,
        signingKeys: () => signingKeys,
      }),
    ],
    close: async () => void (await Promise.all([sender.close(), keySets.close()])),
  };
}

const makePlatformPages = (deps: InteractionDeps): Router[] => [
  makePlatformSignIn(deps),
  makeConfirmRouter(deps),
  makeOwnPasswordRouter(deps),
  makeSetUpRouter(deps),
  makeOfferRouter(deps),
  makeUpstreamRouter(deps),
  makeCardSignIn(deps),
  makeClassListSignIn(deps),
  makeOwnPicturesRouter(deps),
];

function makeFindPersonName({ prisma }: Pick<PrismaDb, "prisma">) {
  return async (personId: PersonId): Promise<string | null> => {
    const name = await prisma.person.findUnique({ where: { id: personId }, select: { firstCall: true, last: true } });
    return name !== null && name.last !== null ? `${name.firstCall} ${name.last}` : null;
  };
}
