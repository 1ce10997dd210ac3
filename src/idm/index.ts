/**
 * idm: serves openapi/idm.yaml.
 *
 * Nouns:      school, user (a person who may sign in to the app, or has signed in before), group, member, person
 *             (synced by a school), change (an event of the app, in the feed), erasure (a person whose data the app
 *             must erase), access report (the licence with which a person uses the app).
 * Invariants: every response except the feed comes from one prepared statement that builds the body; the rules of
 *             access decide what an app sees; an app changes nothing but its own erasures and access reports.
 * Never knows: how tokens are stored, what Schulconnex is, how anything is changed.
 */
import type { Router } from "express";
import { scopeOfContract, type AccessToken } from "../access/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { PrismaDb } from "../platform/database/db.ts";
import { bindOperations, makeProblemType, type RouterDeps, type Handlers } from "../platform/http/index.ts";
import type { operations } from "../../generated/openapi/idm.ts";
import { makeRenderProblem } from "./failure.ts";
import { makeAcknowledgeErasure } from "./acknowledgeErasure.ts";
import { makeCreateAccessReport } from "./createAccessReport.ts";
import { getGroup } from "./getGroup.ts";
import { getPerson } from "./getPerson.ts";
import { getSchool } from "./getSchool.ts";
import { getSchoolRoster } from "./getSchoolRoster.ts";
import { getUser } from "./getUser.ts";
import { makeListChanges } from "./listChanges.ts";
import { makeListErasures } from "./listErasures.ts";
import { makeListIdentifierChanges } from "./listIdentifierChanges.ts";
import { listSchoolGroups } from "./listSchoolGroups.ts";
import { listSchoolPeople } from "./listSchoolPeople.ts";
import { listSchools } from "./listSchools.ts";
import { listSchoolUsers } from "./listSchoolUsers.ts";
import { makeFillPseudonyms, type MakePseudonym } from "./pseudonyms.ts";

type OwnReaders =
  "listChanges" | "listErasures" | "acknowledgeErasure" | "listIdentifierChanges" | "createAccessReport";
const readers: Omit<Handlers<operations, AccessToken>, OwnReaders> = {
  getGroup,
  getPerson,
  getSchool,
  getSchoolRoster,
  getUser,
  listSchoolGroups,
  listSchoolPeople,
  listSchools,
  listSchoolUsers,
};

type Deps = RouterDeps<operations, AccessToken> & {
  changes: PrismaDb;
  clock: Clock;
  /** How long an app is not asked to erase people whom it only stopped seeing. */
  restoreWindowDays: number;
  makePseudonym: MakePseudonym;
  issuerUrl: string;
};

export function makeIdmRouter({ changes, clock, restoreWindowDays, makePseudonym, ...rest }: Deps): Router {
  const { issuerUrl, checkAnswers, ...deps } = rest;
  const { reading, cursorKeys, document } = deps;
  return bindOperations<operations, AccessToken>({
    ...deps,
    handlers: {
      ...readers,
      listChanges: makeListChanges({ changes, reads: reading.share, cursorKeys }),
      listErasures: makeListErasures({ clock, waitDays: restoreWindowDays }),
      acknowledgeErasure: makeAcknowledgeErasure({ db: changes, clock, waitDays: restoreWindowDays }),
      createAccessReport: makeCreateAccessReport({ db: changes, clock }),
      listIdentifierChanges: makeListIdentifierChanges(changes),
    },
    complete: makeFillPseudonyms(makePseudonym),
    scopeName: scopeOfContract,
    render: makeRenderProblem(makeProblemType(issuerUrl)),
    checkAnswersBy: checkAnswers ? [document] : [],
  });
}
