import type { SchoolId } from "../directory/index.ts";
import { present } from "../platform/contract-types.ts";
import { withPrismaTransaction, type RecordStore } from "../platform/database/db.ts";
import { closeEmergencyIn, findWayInSettings, openEmergencyIn, putWayInIn } from "../upstream/index.ts";
import { tagOf } from "./change.ts";
import type { AdminDeps, AdminHandler, Schemas } from "./handler.ts";
import { refuseUnknownSchool } from "./reached.ts";
import { changeSettings } from "./school-settings.ts";

/** An emergency that is over is none. */
const readWayIn = ({ issuerUrl, clock }: Pick<AdminDeps, "issuerUrl" | "clock">) =>
  async function read(db: RecordStore, schoolId: SchoolId) {
    const { linkName, localPasswords, emergencyUntil } = await findWayInSettings(db, schoolId);
    const isOpen = emergencyUntil !== null && emergencyUntil > clock();
    const url = linkName === null ? null : new URL(`/s/${linkName}`, issuerUrl).href;
    return present<Schemas["WayIn"]>({ linkName, url, localPasswords, emergencyUntil: isOpen ? emergencyUntil : null });
  };

export const getWayIn: AdminHandler<"getWayIn"> = async (deps, { schoolId, reach }) => {
  await refuseUnknownSchool(deps.db, reach, schoolId);
  const body = await readWayIn(deps)(deps.db, schoolId);
  return { status: 200, body, headers: { ETag: tagOf(body) } };
};

export const putWayIn: AdminHandler<"putWayIn"> = (deps, request) => {
  const { schoolId, body, origin } = request;
  const write = (tx: Parameters<typeof putWayInIn>[0]) => putWayInIn(tx, { schoolId, ...body }, origin);
  return changeSettings(deps, request, { read: readWayIn(deps), write });
};

export const setEmergencySignIn: AdminHandler<"setEmergencySignIn"> = ({ db }, { schoolId, reach, origin }) =>
  withPrismaTransaction(db, async (tx) => {
    await refuseUnknownSchool(tx, reach, schoolId);
    await openEmergencyIn(tx, schoolId, origin);
    return { status: 204 as const };
  });

export const withdrawEmergencySignIn: AdminHandler<"withdrawEmergencySignIn"> = ({ db }, { schoolId, reach, origin }) =>
  withPrismaTransaction(db, async (tx) => {
    await refuseUnknownSchool(tx, reach, schoolId);
    await closeEmergencyIn(tx, schoolId, origin);
    return { status: 204 as const };
  });
