import type { Request, Response } from "express";
import type { PersonId, SchoolId } from "../../directory/index.ts";
import type { InteractionDeps } from "../protocol/deps.ts";
import { makeSealed } from "../../platform/crypto/sealed.ts";

const name = "_last_sign_in";
const keptSeconds = 180 * 24 * 3600;

/**
 * What this browser keeps, encrypted, of the sign-in before.
 *
 * Shape: `personId` null on a shared device; `isShared` is what was said then; `hasSeveral` where two people signed in
 *        one after the other, and neither said that the device is shared.
 */
export type LastSignIn = {
  isShared: boolean;
  hasSeveral: boolean;
  personId: PersonId | null;
  schoolId: SchoolId | null;
};

type Deps = Pick<InteractionDeps, "provider" | "secrets" | "clock" | "db">;

const none: LastSignIn = { isShared: false, hasSeveral: false, personId: null, schoolId: null };
const sealed = ({ secrets }: Deps) => makeSealed<LastSignIn>(secrets.lastSignIn, "last sign-in", keptSeconds);
const cookiesOf = ({ provider }: Deps, req: Request, res: Response) => provider().createContext(req, res).cookies;

export function readLastSignIn(deps: Deps, req: Request, res: Response): LastSignIn {
  const text = cookiesOf(deps, req, res).get(name, { signed: false });
  return (text === undefined ? null : sealed(deps).read(text, deps.clock())) ?? none;
}

function write(deps: Deps, req: Request, res: Response, last: LastSignIn): void {
  const text = sealed(deps).write(last, deps.clock());
  const options = { httpOnly: true, sameSite: "lax", signed: false, maxAge: keptSeconds * 1000 } as const;
  cookiesOf(deps, req, res).set(name, text, options);
}

/** Keeps who signed in, on a device of their own; on a shared one nothing but the school. */
export function keepLastSignIn(
  deps: Deps,
  req: Request,
  res: Response,
  { personId, homeSchoolId, isShared }: { personId: PersonId; homeSchoolId: SchoolId | null; isShared: boolean },
): void {
  const before = readLastSignIn(deps, req, res);
  const isAnother = before.personId !== null && before.personId !== personId;
  // Who took the tick away on purpose is believed: the form had it set.
  const hasSeveral = !isShared && isAnother;
  const keeps = !isShared && !hasSeveral;
  write(deps, req, res, { isShared, hasSeveral, personId: keeps ? personId : null, schoolId: homeSchoolId });
}

/** Forgets the person, and keeps the rest. */
export const forgetLastPerson = (deps: Deps, req: Request, res: Response): void =>
  write(deps, req, res, { ...readLastSignIn(deps, req, res), personId: null });

/** Whom the sign-in page greets, and what it says of the school. */
export type KnownBrowser = {
  isShared: boolean;
  person: { firstName: string; username: string } | null;
  help: { school: string; text: string } | null;
};

/**
 * What the sign-in page may show before anybody has signed in.
 *
 * Shape: `schoolId` is that of a person whom only this service can have named; else the school is that of the sign-in
 *        before. What an app wrote itself names no school: it would say where the owner of a user name is.
 */
export async function readKnownBrowser(
  deps: Deps,
  req: Request,
  res: Response,
  schoolId: SchoolId | null = null,
): Promise<KnownBrowser> {
  const last = readLastSignIn(deps, req, res);
  const isShared = last.isShared || last.hasSeveral;
  const [person, help] = await Promise.all([
    isShared || last.personId === null ? null : findPerson(deps, last.personId),
    findHelp(deps, schoolId ?? last.schoolId),
  ]);
  return { isShared, person, help };
}

async function findPerson({ db: { prisma } }: Deps, id: PersonId): Promise<KnownBrowser["person"]> {
  const found = await prisma.person.findFirst({
    where: { id, status: "ACTIVE" },
    select: { firstCall: true, credential: { select: { username: true } } },
  });
  if (!found?.firstCall || !found.credential) return null;
  return { firstName: found.firstCall, username: found.credential.username };
}

async function findHelp({ db: { prisma } }: Deps, id: SchoolId | null): Promise<KnownBrowser["help"]> {
  if (id === null) return null;
  const found = await prisma.school.findUnique({
    where: { id },
    select: { name: true, signIn: { select: { helpText: true } } },
  });
  return found?.signIn?.helpText ? { school: found.name, text: found.signIn.helpText } : null;
}
