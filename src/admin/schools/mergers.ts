import { mergeGrants, previewChange, separateGrants, type MergedApp } from "../../access/index.ts";
import { deleteConnectionsOf } from "../../connections/index.ts";
import * as directory from "../../directory/index.ts";
import type { Change, Merged, Merger, SchoolId } from "../../directory/index.ts";
import type { RecordStore } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import { mergeClassTeachers, separateClassTeachers } from "../../staff/index.ts";
import { answerCreated, commitSeen } from "../change.ts";
import { present, type AdminDeps, type AdminHandler, type AdminRequest, type Schemas } from "../handler.ts";
import { refuseOtherSchool, refuseUnknownSchool } from "../reached.ts";
import { presentViewChanges } from "../view-changes.ts";

const presentMerger = (merger: Merger) => present("SchoolMerger", merger);

export const listSchoolMergers: AdminHandler<"listSchoolMergers"> = async ({ db }, { schoolId, origin, page }) =>
  page.answer(await directory.listMergers(db, { schoolId, now: origin.at, ...page.range }), presentMerger);

type Sides = { from: SchoolId; into: SchoolId };
type Result = { merged: Merged; apps: MergedApp[]; staffRoles: number };

/** Both schools, always in the same order, so that two changes of them do not wait for each other. */
async function touchBoth({ touchSchool }: Change, { from, into }: Sides): Promise<void> {
  for (const schoolId of [from, into].sort()) await touchSchool(schoolId);
}

function merge(
  { demandsAgreements }: Pick<AdminDeps, "demandsAgreements">,
  sides: Sides & { keepSourceIds: boolean },
): (change: Change) => Promise<Result> {
  return async (change) => {
    await touchBoth(change, sides);
    const rules = { ...sides, demandsAgreements };
    const { merged, apps } = await mergeGrants(change, rules, () => directory.mergeSchools(change, sides));
    await deleteConnectionsOf(change.tx, sides.from);
    return { merged, apps, staffRoles: await mergeClassTeachers(change.tx, { id: merged.id, ...sides }) };
  };
}

async function presentPreview(
  { prisma }: RecordStore,
  { merged, apps, staffRoles }: Result,
  { schoolId, views }: { schoolId: SchoolId; views: Schemas["ViewChange"][] },
) {
  const named = await prisma.app.findMany({
    where: { clientId: { in: apps.map(({ clientId }) => clientId) } },
    select: { clientId: true, name: true },
    orderBy: [{ name: "asc" }, { clientId: "asc" }],
  });
  const connections = await prisma.upstreamConnection.count({ where: { schoolId } });
  const byId = new Map(apps.map((app) => [app.clientId as string, app]));
  return present("SchoolMergerPreview", {
    ...merged,
    staffRoles,
    connections,
    apps: named.map((app) => ({ ...byId.get(app.clientId)!, ...app })),
    views,
  });
}

export const createSchoolMerger: AdminHandler<"createSchoolMerger"> = async (deps, request) => {
  const { schoolId, body, query, reach, origin } = request;
  const into = body.intoSchoolId as SchoolId;
  await refuseUnknownSchool(deps.db, reach, into);
  if (into === schoolId) throw new AppError("invalid", "merged_with_itself", "A school cannot be merged into itself.");
  const work = merge(deps, { from: schoolId, into, keepSourceIds: body.keepSourceIds });
  if (query["dry-run"] === true) {
    let result: Result | undefined;
    const body = await previewChange(
      deps.db,
      origin,
      async (change) => (result = await work(change)),
      async (tx, events) => presentPreview(tx, result!, { schoolId, views: await presentViewChanges(tx, events) }),
    );
    return { status: 200, body };
  }
  return commitSeen(deps, request, async (change) => {
    const { merged } = await work(change);
    const made = presentMerger(await directory.getMerger(change.tx, { id: merged.id, schoolId, now: origin.at }));
    return answerCreated(change.tx, request, {
      body: made,
      location: `${request.address}/${made.id}`,
      recorded: null,
    });
  });
};

type OfOne = Pick<AdminRequest<"withdrawSchoolMerger">, "schoolId" | "mergerId" | "reach" | "origin">;

async function findSides({ db }: Pick<AdminDeps, "db">, { schoolId, mergerId, reach, origin }: OfOne): Promise<Sides> {
  const { from, into } = await directory.getMerger(db, { id: mergerId, schoolId, now: origin.at });
  const sides = { from: from.id as SchoolId, into: into.id as SchoolId };
  for (const id of Object.values(sides)) refuseOtherSchool(reach, id);
  return sides;
}

export const withdrawSchoolMerger: AdminHandler<"withdrawSchoolMerger"> = async (deps, request) => {
  const { schoolId, mergerId: id, origin } = request;
  const sides = await findSides(deps, request);
  return commitSeen(deps, request, async (change) => {
    await touchBoth(change, sides);
    await directory.openMerger(change, { id, schoolId });
    await separateClassTeachers(change.tx, { id, ...sides });
    await separateGrants(change, { id, ...sides }, () => directory.separateSchools(change, { id, ...sides }));
    const body = presentMerger(await directory.getMerger(change.tx, { id, schoolId, now: origin.at }));
    return { status: 200 as const, body };
  });
};
