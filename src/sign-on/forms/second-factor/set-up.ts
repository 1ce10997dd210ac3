import express, { type Request, type Response, Router } from "express";
import qrcode from "qrcode";
import { againAfterDeadlock } from "../../../access/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import { personActor, type Origin } from "../../../events/index.ts";
import { withPrismaTransaction } from "../../../platform/database/db.ts";
import { AppError } from "../../../platform/errors.ts";
import { makeUuid } from "../../../platform/crypto/ids.ts";
import { type PageContext, readLocale } from "../../../platform/pages/index.ts";
import { seal } from "../../../platform/crypto/seal.ts";
import {
  addSecondFactor,
  askForNewPasskey,
  findLogin,
  findTotpStep,
  hasSecondFactors,
  listSecondFactors,
  makeTotpAddress,
  makeTotpSecret,
  readNewPasskey,
  recordAtHome,
  removeSecondFactor,
  renewRecoveryCodes,
  spellTotpSecret,
  totpPurpose,
  passwordAnd,
} from "../../../accounts/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { fieldOf, sendPage } from "../form.ts";
import { renderPasskeyPage, renderRecoveryCodesPage, renderSecondFactorsPage, renderTotpPage } from "../pages/index.ts";
import { isOwnForm, makeFormToken, openForm, readBrowser, signInPath, strengthenSession } from "../platform-session.ts";
import { readReturnPath } from "../return-path.ts";
import { findSignedIn, type SignedIn } from "../../protocol/signed-in.ts";
import { addressWith, confirmAddress, isConfirmed, keepConfirmed } from "./confirm.ts";
import { makeSealed } from "../../../platform/crypto/sealed.ts";

export const setUpPath = `${signInPath}/second-factor`;
const totpPath = `${setUpPath}/totp`;
const passkeyPath = `${setUpPath}/passkey`;
const removePath = `${setUpPath}/remove`;
const codesPath = `${setUpPath}/codes`;
const longestLabel = 60;
const setUpSeconds = 1800;

type Deps = InteractionDeps;
type NewTotp = { id: string; personId: PersonId; secret: string };

const sealedTotp = ({ secrets }: Deps) => makeSealed<NewTotp>(secrets.secondFactor, "new TOTP", setUpSeconds);
const returnPathOf = (req: Request): string => readReturnPath(req.query["return"]);
const addressOf = (req: Request, page: string): string => addressWith(page, returnPathOf(req));

const contextOf = (req: Request, page: string): PageContext => ({
  locale: readLocale(req),
  languageUrl: (lang) => addressWith(page, returnPathOf(req), { lang }),
});

type Handle = (deps: Deps, req: Request, res: Response, signedIn: SignedIn) => Promise<void>;

/** Serves the pages on which a person sets up, names and removes what they prove beside their password. */
export function makeSetUpRouter(deps: Deps): Router {
  const router = Router();
  const form = express.urlencoded({ extended: false, limit: "32kb" });
  router.get(setUpPath, owned(deps, list));
  router.get(
    totpPath,
    owned(deps, (...given) => showTotp(...given, null)),
  );
  router.post(totpPath, form, owned(deps, addTotp));
  router.get(
    passkeyPath,
    owned(deps, (...given) => showPasskey(...given, false)),
  );
  router.post(passkeyPath, form, owned(deps, addPasskey));
  router.post(removePath, form, owned(deps, remove));
  router.post(codesPath, form, owned(deps, renewCodes));
  return router;
}

/** Lets in who has just typed their password or, where they have a second factor, has just proved that. */
function owned(deps: Deps, handle: Handle) {
  return async (req: Request, res: Response): Promise<void> => {
    const signedIn = await findSignedIn(deps, req, res);
    const here = addressOf(req, req.method === "GET" ? req.path : setUpPath);
    if (signedIn === null) return res.redirect(303, addressWith(signInPath, here));
    const { personId, hasPassword } = signedIn;
    if (!hasPassword) return res.redirect(303, "/");
    const hasFactors = await hasSecondFactors(deps.db, personId);
    if (!hasFactors && !signedIn.isFresh) return res.redirect(303, addressWith(signInPath, here, { again: "1" }));
    if (hasFactors && !isProved(deps, req, res, signedIn)) {
      const goesOn = returnPathOf(req) !== "/" && !signedIn.hasSecondFactor;
      return res.redirect(303, confirmAddress(goesOn ? returnPathOf(req) : here));
    }
    if (req.method === "POST" && !isOwnForm(deps, req, res, setUpPath))
      return res.redirect(303, addressOf(req, setUpPath));
    await handle(deps, req, res, signedIn);
  };
}

const isProved = (deps: Deps, req: Request, res: Response, { personId, hasSecondFactor }: SignedIn): boolean =>
  hasSecondFactor && isConfirmed(deps, req, res, personId);

const originOf = ({ clock }: Deps, res: Response, personId: PersonId): Origin => ({
  at: clock(),
  actorId: personActor(personId),
  requestId: res.locals["requestId"] as string | undefined,
});

const list: Handle = async (deps, req, res, { personId, needsSecondFactor }) => {
  const [factors, codesLeft] = await Promise.all([
    listSecondFactors(deps.db, personId),
    deps.db.prisma.recoveryCode.count({ where: { personId } }),
  ]);
  const page = renderSecondFactorsPage(
    {
      factors,
      codesLeft,
      isNeeded: needsSecondFactor,
      next: returnPathOf(req),
      csrf: makeFormToken(deps, req, res, setUpPath),
      totp: addressOf(req, totpPath),
      passkey: addressOf(req, passkeyPath),
      remove: addressOf(req, removePath),
      codes: addressOf(req, codesPath),
    },
    contextOf(req, setUpPath),
  );
  sendPage(res, page);
};

type TotpProblem = null | "refused" | "expired";

async function showTotp(
  deps: Deps,
  req: Request,
  res: Response,
  { personId }: SignedIn,
  problem: TotpProblem,
  given: { totp: NewTotp; label: string } | null = null,
): Promise<void> {
  const id = makeUuid(deps.clock());
  const totp = given?.totp ?? { id, personId, secret: makeTotpSecret().toString("base64url") };
  const secret = Buffer.from(totp.secret, "base64url");
  const login = await findLogin(deps.db, personId, deps.clock());
  const issuer = new URL(deps.issuerUrl).host;
  const address = makeTotpAddress(secret, { issuer, account: login?.username ?? issuer });
  const page = renderTotpPage(
    {
      problem,
      address,
      label: given?.label ?? "",
      qrCode: await qrcode.toString(address, { type: "svg", errorCorrectionLevel: "M", margin: 2 }),
      secret: spellTotpSecret(secret),
      state: sealedTotp(deps).write(totp, deps.clock()),
      csrf: makeFormToken(deps, req, res, setUpPath),
      action: addressOf(req, totpPath),
      back: addressOf(req, setUpPath),
    },
    contextOf(req, totpPath),
  );
  sendPage(res, page);
}

const labelOf = (req: Request, otherwise: string): string => {
  const label = fieldOf(req, "label").normalize("NFC").replace(/\p{C}/gu, "").trim().slice(0, longestLabel);
  return label === "" ? otherwise : label;
};

const addTotp: Handle = async (deps, req, res, signedIn) => {
  const { personId } = signedIn;
  const totp = sealedTotp(deps).read(fieldOf(req, "state"), deps.clock());
  if (totp?.personId !== personId) return showTotp(deps, req, res, signedIn, "expired");
  const label = labelOf(req, "Authenticator");
  const secret = Buffer.from(totp.secret, "base64url");
  const lastStep = findTotpStep(secret, fieldOf(req, "code").replace(/\s/g, ""), deps.clock());
  if (lastStep === null) return showTotp(deps, req, res, signedIn, "refused", { totp, label });
  const sealed = seal(deps.encryptionKeys, totpPurpose(totp.id), secret);
  await add(deps, req, res, signedIn, {
    factor: { kind: "TOTP", id: totp.id, label, secret: sealed, lastStep },
    method: "otp",
  });
};

async function showPasskey(
  deps: Deps,
  req: Request,
  res: Response,
  { personId }: SignedIn,
  isRefused: boolean,
): Promise<void> {
  const { csrf, browser } = openForm(deps, req, res, setUpPath);
  const login = await findLogin(deps.db, personId, deps.clock());
  const question = await askForNewPasskey(deps, { personId, browser }, login?.username ?? "");
  const page = renderPasskeyPage(
    {
      ...question,
      csrf,
      isRefused,
      label: labelOf(req, ""),
      action: addressOf(req, passkeyPath),
      back: addressOf(req, setUpPath),
    },
    contextOf(req, passkeyPath),
  );
  sendPage(res, page);
}

const addPasskey: Handle = async (deps, req, res, signedIn) => {
  const asked = { personId: signedIn.personId, browser: readBrowser(deps, req, res) ?? "" };
  const answer = { state: fieldOf(req, "state"), response: fieldOf(req, "passkey") };
  const made = await readNewPasskey(deps, asked, answer);
  if (made === null) return showPasskey(deps, req, res, signedIn, true);
  const id = makeUuid(deps.clock());
  const factor = { kind: "PASSKEY" as const, id, label: labelOf(req, "Passkey"), ...made };
  await add(deps, req, res, signedIn, { factor, method: "hwk" }).catch((error: unknown) => {
    if (!isTaken(error)) throw error;
    return showPasskey(deps, req, res, signedIn, true);
  });
};

/** Whether somebody registered the same credential at the same time. */
const isTaken = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "23505";

type Added = { factor: Parameters<typeof addSecondFactor>[1]["factor"]; method: "otp" | "hwk" };

/** Keeps the new factor, and with the first one shows the recovery codes. */
async function add(
  deps: Deps,
  req: Request,
  res: Response,
  { personId }: SignedIn,
  { factor, method }: Added,
): Promise<void> {
  const origin = originOf(deps, res, personId);
  const codes = await withPrismaTransaction(deps.db, async (tx) => {
    const { isFirst } = await addSecondFactor(tx, { personId, factor, origin });
    return isFirst ? renewRecoveryCodes(tx, { personId, key: deps.secrets.recoveryCodes }) : null;
  }).catch(refuseFull);
  if (!(await strengthenSession(deps, req, res, { personId, amr: passwordAnd(method) })))
    return res.redirect(303, addressWith(signInPath, addressOf(req, setUpPath)));
  keepConfirmed(deps, req, res, personId);
  if (codes === null) return res.redirect(303, addressOf(req, setUpPath));
  showCodes(req, res, codes);
}

// Ten are more than anybody has; the list says what is there.
function refuseFull(error: unknown): null {
  if (error instanceof AppError && error.code === "second_factors_full") return null;
  throw error;
}

function showCodes(req: Request, res: Response, codes: readonly string[]): void {
  const next = returnPathOf(req);
  const page = renderRecoveryCodesPage({ codes, next: next === "/" ? setUpPath : next }, { locale: readLocale(req) });
  sendPage(res, page);
}

const remove: Handle = async (deps, req, res, { personId, sessionUid }) => {
  const origin = originOf(deps, res, personId);
  const id = fieldOf(req, "id");
  await againAfterDeadlock(() =>
    withPrismaTransaction(deps.db, (tx) => removeSecondFactor(tx, { personId, id, sessionUid, origin })),
  );
  res.redirect(303, addressOf(req, setUpPath));
};

const renewCodes: Handle = async (deps, req, res, { personId }) => {
  if (!(await hasSecondFactors(deps.db, personId))) return res.redirect(303, addressOf(req, setUpPath));
  const origin = originOf(deps, res, personId);
  const codes = await withPrismaTransaction(deps.db, async (tx) => {
    await recordAtHome(tx, { ...origin, action: "recovery_codes_renewed", personId });
    return renewRecoveryCodes(tx, { personId, key: deps.secrets.recoveryCodes });
  });
  showCodes(req, res, codes);
};
