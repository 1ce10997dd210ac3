/*
 * portal: the pages of the platform, for pupils, staff, partners and operators.
 *
 * Nouns:      tile (an app that the signed-in person may open), area (a part of the portal), visit (a request for a
 *             page).
 * Invariants: a person sees only apps that `access` lets them sign in to; a tile's link contains an opaque hint for
 *             that person and app; everything a staff page does is an operation of the admin API, called as the
 *             signed-in person; every page and every form works without JavaScript.
 * Never knows: how sign-on works, tokens, sessions; it asks sign-on who is signed in.
 */
import { Router } from "express";
import { accountPages } from "./account/index.ts";
import type { Area, FrameDeps, SchoolPage } from "./frame/index.ts";
import { makeTilesRouter, type TilesOptions } from "./home/tiles.ts";
import { classesPages } from "./classes/index.ts";
import { credentialsPages } from "./credentials/index.ts";
import { handoverPages } from "./handovers/index.ts";
import { mergerPages } from "./mergers/index.ts";
import { importPages } from "./imports/index.ts";
import { operatorPages } from "./operator/index.ts";
import { makePartnerPages, schoolUsagePages, type AppGuides } from "./partner/index.ts";
import { peoplePages } from "./people/index.ts";
import { appPages } from "./apps/index.ts";
import { auditPages } from "./audit/index.ts";
import { privacyPages } from "./privacy/index.ts";
import { retentionPages, stateRetentionPages } from "./retention/index.ts";
import { rosterConnectionPages } from "./roster-connections/index.ts";
import { schoolPages } from "./schools/index.ts";
import { settingsPages } from "./settings/index.ts";
import { staffPages } from "./staff/index.ts";
import { todayPage } from "./today/index.ts";
import { makeSetUpPages, upstreamPages, upstreamServicePages, type SetUpDeps } from "./upstream/index.ts";

export { listTiles, makeAppLogos } from "./home/tiles.ts";

/** The area of each page in the navigation of a school; a page without its area does not compile. */
const areasOfSchool: Readonly<Record<SchoolPage, Area>> = {
  today: todayPage,
  people: peoplePages,
  classes: classesPages,
  apps: appPages,
  imports: importPages,
  audit: auditPages,
  privacy: privacyPages,
  staff: staffPages,
  settings: settingsPages,
};

type PortalOptions = {
  home: TilesOptions;
  frame: FrameDeps;
  setUp: Pick<SetUpDeps, "setUp" | "nameBrowser">;
  guides: AppGuides;
};

/** Serves `/`, `/admin`, `/partner` and `/set-up`. */
export function makePortal({ home, frame, setUp, guides }: PortalOptions): Router {
  const router = Router();
  router.use(makeTilesRouter(home), makeSetUpPages({ ...frame, ...setUp }));
  const areas = [
    schoolPages,
    ...Object.values(areasOfSchool),
    credentialsPages,
    handoverPages,
    mergerPages,
    operatorPages,
    rosterConnectionPages,
    retentionPages,
    stateRetentionPages,
    upstreamPages,
    upstreamServicePages,
    accountPages,
    makePartnerPages(guides),
    schoolUsagePages,
  ];
  for (const area of areas) router.use(area(frame));
  return router;
}
