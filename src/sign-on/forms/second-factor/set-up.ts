import { Router } from "express";
import qrcode from "qrcode";
import { againAfterDeadlock } from "../../../access/index.ts";
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
  renameSecondFactor,
  renewRecoveryCodes,
  type SecondMethod,
  spellTotpSecret,
  totpPurpose,
} from "../../../accounts/index.ts";
import type { PersonId } from "../../../directory/index.ts";
import { personActor, type Origin } from "../../../events/index.ts";
import { makeUuid } from "../../../platform/crypto/ids.ts";
import { seal, makeSealed } from "../../../platform/crypto/seal.ts";
import { withPrismaTransaction } from "../../../platform/database/db.ts";
import { AppError } from "../../../platform/errors.ts";
import { readLocale } from "../../../platform/pages/index.ts";
import type { InteractionDeps } from "../../protocol/deps.ts";
import { findSignedIn, type SignedIn } from "../../protocol/signed-in.ts";
import {
  fieldOf,
  onPage,
  type PageRequest,
  readLargeForm,
  redirect,
  requestIdOf,
  sendPage,
  addressOf,
  addressWith,
  confirmPath,
  contextOf,
  returnPathOf,
  setUpPath,
  signInPath,
  isOwnForm,
  makeFormToken,
  openForm,
  readBrowser,
  strengthenSession,
} from "../page-request.ts";
import {
  type LeavingContext,
  nameNewPasskey,
  type PasskeyModel,
  renderPasskeyPage,
  renderRecoveryCodesPage,
  renderSecondFactorsPage,
  renderTotpPage,
} from "../pages/index.ts";
import { isConfirmed, keepConfirmed } from "../platform-sign-in.ts";

const totpPath = `${setUpPath}/totp`;
const passkeyPath = `${setUpPath}/passkey`;
const removePath = `${setUpPath}/remove`;
const renamePath = `${setUpPath}/rename`;
const codesPath = `${setUpPath}/codes`;
const longestLabel = 60;
const setUpSeconds = 1800;

type NewTotp = { id: string; personId: PersonId; secret: string };

const sealedTotp = ({ secrets }: InteractionDeps) =>
  makeSealed<NewTotp>(secrets.secondFactor, "new TOTP", setUpSeconds);

type Handle = (request: PageRequest, signedIn: SignedIn) => Promise<void>;

/** Serves the pages on which a person sets up, names and removes their second factors. */
export function makeSetUpRouter(deps: InteractionDeps): Router {
  const owned = (handle: Handle) => onPage(deps, (request) => ifProved(request, handle));
  return Router()
    .get(setUpPath, owned(list))
    .get(totpPath, owned(showTotp))
    .post(totpPath, readLargeForm, owned(addTotp))
    .get(passkeyPath, owned(showPasskey))
    .post(passkeyPath, readLargeForm, owned(addPasskey))
    .post(removePath, readLargeForm, owned(remove))
    .post(renamePath, readLargeForm, owned(rename))
    .post(codesPath, readLargeForm, owned(renewCodes));
}

/** Calls the handler if the person has just signed in or, with a second factor, has just proved that. */
async function ifProved(request: PageRequest, handle: Handle): Promise<void> {
  const { deps, req, res } = request;
  const signedIn = await findSignedIn(deps, req, res);
  const here = addressOf(request, req.method === "GET" ? req.path : setUpPath);
  if (signedIn === null) return redirect(request, addressWith(signInPath, here));
  const { personId, hasStaffFactor, hasSecondFactor, isFresh } = signedIn;
  if (!hasStaffFactor) return redirect(request, "/");
  const hasFactors = await hasSecondFactors(deps.db, personId);
  if (!hasFactors && !isFresh) return redirect(request, addressWith(signInPath, here, { again: "1" }));
  if (hasFactors && !(hasSecondFactor && isConfirmed(request, personId))) {
    const goesOn = returnPathOf(request) !== "/" && !hasSecondFactor;
    return redirect(request, addressWith(confirmPath, goesOn ? returnPathOf(request) : here));
  }
  if (req.method === "POST" && !isOwnForm(request, setUpPath)) return redirect(request, addressOf(request, setUpPath));
  await handle(request, signedIn);
}

export const originOf = (request: PageRequest, personId: PersonId): Origin => ({
  at: request.deps.clock(),
  actorId: personActor(personId),
  requestId: requestIdOf(request),
});

const list: Handle = async (request, { personId, needsSecondFactor }) => {
  const { db } = request.deps;
  const [factors, codesLeft] = await Promise.all([
    listSecondFactors(db, personId),
    db.prisma.recoveryCode.count({ where: { personId } }),
  ]);
  const page = renderSecondFactorsPage(
    {
      factors,
      codesLeft,
      isNeeded: needsSecondFactor,
      next: returnPathOf(request),
      csrf: makeFormToken(request, setUpPath),
      totp: addressOf(request, totpPath),
      passkey: addressOf(request, passkeyPath),
      remove: addressOf(request, removePath),
      rename: addressOf(request, renamePath),
      codes: addressOf(request, codesPath),
    },
    contextOf(request, setUpPath),
  );
  sendPage(request, page);
};

async function showTotp(
  request: PageRequest,
  { personId }: SignedIn,
  problem: null | "refused" | "expired" = null,
  typed: { totp: NewTotp; label: string } | null = null,
): Promise<void> {
  const { db, clock, issuerUrl } = request.deps;
  const id = makeUuid(clock());
  const totp = typed?.totp ?? { id, personId, secret: makeTotpSecret().toString("base64url") };
  const secret = Buffer.from(totp.secret, "base64url");
  const login = await findLogin(db, personId, clock());
  const issuer = new URL(issuerUrl).host;
  const address = makeTotpAddress(secret, { issuer, account: login?.username ?? issuer });
  const page = renderTotpPage(
    {
      problem,
      address,
      label: typed?.label ?? "",
      qrCode: await qrcode.toString(address, { type: "svg", errorCorrectionLevel: "M", margin: 2 }),
      secret: spellTotpSecret(secret),
      state: sealedTotp(request.deps).write(totp, clock()),
      csrf: makeFormToken(request, setUpPath),
      action: addressOf(request, totpPath),
      back: addressOf(request, setUpPath),
    },
    contextOf(request, totpPath),
  );
  sendPage(request, page);
}

/** What the person calls it. */
const labelOf = (request: PageRequest, otherwise: string): string => {
  const label = fieldOf(request, "label").normalize("NFC").replace(/\p{C}/gu, "").trim().slice(0, longestLabel);
  return label === "" ? otherwise : label;
};

const addTotp: Handle = async (request, signedIn) => {
  const { clock, encryptionKeys } = request.deps;
  const totp = sealedTotp(request.deps).read(fieldOf(request, "state"), clock());
  if (totp?.personId !== signedIn.personId) return showTotp(request, signedIn, "expired");
  const label = labelOf(request, "Authenticator");
  const plain = Buffer.from(totp.secret, "base64url");
  const lastStep = findTotpStep(plain, fieldOf(request, "code").replace(/\s/g, ""), clock());
  if (lastStep === null) return showTotp(request, signedIn, "refused", { totp, label });
  const secret = seal(encryptionKeys, totpPurpose(totp.id), plain);
  await add(request, signedIn, { kind: "TOTP", id: totp.id, label, secret, lastStep }, "otp");
};

const showPasskey = (request: PageRequest, { personId }: SignedIn, isRefused = false): Promise<void> =>
  showNewPasskey(request, personId, {
    form: setUpPath,
    userVerification: "preferred",
    page: { isRefused, isOffered: false, action: addressOf(request, passkeyPath), back: addressOf(request, setUpPath) },
    context: contextOf(request, passkeyPath),
  });

type NewPasskeyPage = {
  form: string;
  userVerification: "required" | "preferred";
  page: Omit<PasskeyModel, "csrf" | "label" | "options" | "state">;
  context: LeavingContext;
};

export async function showNewPasskey(
  request: PageRequest,
  personId: PersonId,
  { form, userVerification, page, context }: NewPasskeyPage,
): Promise<void> {
  const { deps } = request;
  const { csrf, browser } = openForm(request, form);
  const username = (await findLogin(deps.db, personId, deps.clock()))?.username ?? "";
  const question = await askForNewPasskey(deps, { personId, browser }, { username, userVerification });
  sendPage(request, renderPasskeyPage({ ...question, ...page, csrf, label: labelOf(request, "") }, context));
}

type NewFactor = Parameters<typeof addSecondFactor>[1]["factor"];

/** Reads the form of that page. Returns null for a wrong answer of the device. */
export async function readPasskeyForm(request: PageRequest, personId: PersonId, isOffered: boolean) {
  const { deps } = request;
  const answer = { state: fieldOf(request, "state"), response: fieldOf(request, "passkey") };
  const passkey = await readNewPasskey(deps, { personId, browser: readBrowser(request) ?? "" }, answer, isOffered);
  if (passkey === null) return null;
  const [at, isAsked] = [deps.clock(), !isOffered && fieldOf(request, "asked") !== ""];
  const label = labelOf(request, nameNewPasskey(readLocale(request.req), at));
  return { kind: "PASSKEY" as const, id: makeUuid(at), label, isAsked, ...passkey };
}

const addPasskey: Handle = async (request, signedIn) => {
  const passkey = await readPasskeyForm(request, signedIn.personId, false);
  if (passkey === null || !(await add(request, signedIn, passkey, "hwk"))) await showPasskey(request, signedIn, true);
};

const nextOf = (request: PageRequest): string => {
  const path = returnPathOf(request);
  return path === "/" ? setUpPath : path;
};

/** Returns recovery codes with the first factor, and "taken" if somebody has the credential already. */
export async function storeFactor(
  request: PageRequest,
  stored: { personId: PersonId; factor: NewFactor; generation?: number },
): Promise<string[] | "taken" | null> {
  const { db, secrets } = request.deps;
  const { personId } = stored;
  return withPrismaTransaction(db, async (tx) => {
    const { isFirst } = await addSecondFactor(tx, { ...stored, origin: originOf(request, personId) });
    return isFirst ? renewRecoveryCodes(tx, { personId, key: secrets.recoveryCodes }) : null;
  }).catch((error: unknown) => {
    if (error instanceof AppError && error.code === "second_factors_full") return null;
    if (error instanceof Error && "code" in error && error.code === "23505") return "taken";
    throw error;
  });
}

/** Stores the new factor, and shows recovery codes with the first one. Returns false if it is taken. */
async function add(request: PageRequest, { personId }: SignedIn, factor: NewFactor, method: SecondMethod) {
  const codes = await storeFactor(request, { personId, factor });
  if (codes === "taken") return false;
  const toList = addressOf(request, setUpPath);
  if (!(await strengthenSession(request, { personId, method }))) {
    redirect(request, addressWith(signInPath, toList));
    return true;
  }
  keepConfirmed(request, personId);
  if (codes === null) redirect(request, toList);
  else showCodes(request, codes, nextOf(request));
  return true;
}

export function showCodes(request: PageRequest, codes: readonly string[], next: string): void {
  sendPage(request, renderRecoveryCodesPage({ codes, next }, { locale: readLocale(request.req) }));
}

const remove: Handle = async (request, { personId, sessionUid }) => {
  const origin = originOf(request, personId);
  const id = fieldOf(request, "id");
  await againAfterDeadlock(() =>
    withPrismaTransaction(request.deps.db, (tx) => removeSecondFactor(tx, { personId, id, sessionUid, origin })),
  );
  redirect(request, addressOf(request, setUpPath));
};

const rename: Handle = async (request, { personId }) => {
  const [id, label] = [fieldOf(request, "id"), labelOf(request, "")];
  if (label !== "") await renameSecondFactor(request.deps.db, { personId, id, label });
  redirect(request, addressOf(request, setUpPath));
};

const renewCodes: Handle = async (request, { personId }) => {
  const { db, secrets } = request.deps;
  if (!(await hasSecondFactors(db, personId))) return redirect(request, addressOf(request, setUpPath));
  const origin = originOf(request, personId);
  const codes = await withPrismaTransaction(db, async (tx) => {
    await recordAtHome(tx, { ...origin, action: "recovery_codes_renewed", personId });
    return renewRecoveryCodes(tx, { personId, key: secrets.recoveryCodes });
  });
  showCodes(request, codes, nextOf(request));
};
