import type { PersonId, SchoolId } from "../../directory/index.ts";
import { makeSealed } from "../../platform/crypto/sealed.ts";
import type { InteractionDeps } from "../protocol/deps.ts";
import { type PageRequest, readCookie, setCookie } from "./page-request.ts";
import type { LoginModel } from "./pages/index.ts";

const name = "_last_sign_in";
const keptSeconds = 180 * 24 * 3600;

/**
 * What this browser stores, encrypted, of the sign-in before. `personId` is null on a shared device; `hasSeveral`: two
 * people signed in one after the other, and neither said that the device is shared.
 */
type LastSignIn = { isShared: boolean; hasSeveral: boolean; personId: PersonId | null; schoolId: SchoolId | null };

const none: LastSignIn = { isShared: false, hasSeveral: false, personId: null, schoolId: null };
const sealed = ({ secrets }: InteractionDeps) =>
  makeSealed<LastSignIn>(secrets.lastSignIn, "last sign-in", keptSeconds);

export function readLastSignIn(request: PageRequest): LastSignIn {
  const text = readCookie(request, name, { signed: false });
  return (text === null ? null : sealed(request.deps).read(text, request.deps.clock())) ?? none;
}

function write(request: PageRequest, last: LastSignIn): void {
  const { deps } = request;
  const seconds = last.isShared ? undefined : keptSeconds;
  setCookie(request, name, sealed(deps).write(last, deps.clock()), { signed: false, seconds });
}

/** Stores who signed in; on a shared device only the school. */
export function keepLastSignIn(
  request: PageRequest,
  { personId, homeSchoolId, isShared }: { personId: PersonId; homeSchoolId: SchoolId | null; isShared: boolean },
): void {
  const before = readLastSignIn(request);
  const isAnother = before.personId !== null && before.personId !== personId;
  // The form of a shared device has the tick set, so its removal is deliberate.
  const hasSeveral = !isShared && isAnother;
  const keeps = !isShared && !hasSeveral;
  write(request, { isShared, hasSeveral, personId: keeps ? personId : null, schoolId: homeSchoolId });
}

export const forgetLastPerson = (request: PageRequest): void =>
  write(request, { ...readLastSignIn(request), personId: null });

/** The person whom the sign-in page greets, and the help text of the school. */
type KnownBrowser = {
  isShared: boolean;
  person: { firstName: string; username: string } | null;
  help: { school: string; text: string } | null;
};

/**
 * Reads what the sign-in page may show before anybody has signed in. `schoolId` belongs to a person in a hint that only
 * this service can make; a hint that an app wrote itself names no school, because that would reveal it.
 */
export async function readKnownBrowser(request: PageRequest, schoolId: SchoolId | null = null): Promise<KnownBrowser> {
  const last = readLastSignIn(request);
  const isShared = last.isShared || last.hasSeveral;
  const [person, help] = await Promise.all([
    isShared || last.personId === null ? null : findPerson(request.deps, last.personId),
    findHelp(request.deps, schoolId ?? last.schoolId),
  ]);
  return { isShared, person, help };
}

export type TypedLogin = { username: string; isShared: boolean };

/**
 * The fields of the login form that depend on the browser. The last person is greeted unless another user name was
 * typed; `other` is the address of the form that asks for any user name.
 */
export function describeBrowser(
  { req }: PageRequest,
  { person, isShared, help }: KnownBrowser,
  { typed, other }: { typed: TypedLogin | undefined; other: string },
): Pick<LoginModel, "username" | "known" | "isShared" | "help"> {
  const username = typed?.username ?? "";
  const isGreeted = req.query["other"] === undefined && (username === "" || username === person?.username);
  const known = person !== null && isGreeted ? { ...person, other } : null;
  return { username, known, isShared: typed?.isShared ?? isShared, help };
}

async function findPerson({ db: { prisma } }: InteractionDeps, id: PersonId): Promise<KnownBrowser["person"]> {
  const found = await prisma.person.findFirst({
    where: { id, status: "ACTIVE" },
    select: { firstCall: true, credential: { select: { username: true } } },
  });
  if (!found?.firstCall || !found.credential) return null;
  return { firstName: found.firstCall, username: found.credential.username };
}

async function findHelp({ db: { prisma } }: InteractionDeps, id: SchoolId | null): Promise<KnownBrowser["help"]> {
  if (id === null) return null;
  const found = await prisma.school.findUnique({
    where: { id },
    select: { name: true, signIn: { select: { helpText: true } } },
  });
  return found?.signIn?.helpText ? { school: found.name, text: found.signIn.helpText } : null;
}
