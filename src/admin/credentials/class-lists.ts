import * as accounts from "../../accounts/index.ts";
import type { SchoolId } from "../../directory/index.ts";
import { AppError } from "../../platform/errors.ts";
import { answerRecord, commit, commitDone } from "../change.ts";
import { readGroup } from "../groups/groups.ts";
import { present, type AdminHandler } from "../handler.ts";
import { changeWithPerson } from "../people/logins.ts";

const disabled = () => new AppError("conflict", "class_lists_disabled", "The school does not use class lists.");

const notPossible = () =>
  new AppError("conflict", "list_not_possible", `Only classes of at most ${accounts.mostListed} pupils have a list.`);

export const createClassList: AdminHandler<"createClassList"> = async (deps, request) => {
  const { groupId, reach, body, origin } = request;
  const { type, status, ...group } = await readGroup(deps.db, reach, groupId);
  const schoolId = group.schoolId as SchoolId;
  const { enabled, classLists } = await accounts.readCardSettings(deps.db, schoolId);
  if (!enabled || !classLists) throw disabled();
  if (type !== "KLASSE" || status !== "ACTIVE") throw notPossible();
  if (await accounts.isClassTooLarge(deps.db, { groupId, schoolId }, origin.at)) throw notPossible();
  const { code, codeHash } = deps.makeClassCode();
  const endsAt = new Date(origin.at.getTime() + body.minutes * 60_000);
  const url = deps.issuerUrl.replace(/\/$/, "") + accounts.classListPath;
  return commit(deps, request, async (tx) => {
    await accounts.createClassListIn(tx, { groupId, schoolId, codeHash, endsAt }, origin);
    return { status: 201 as const, body: present("OpenClassList", { code, url, endsAt }) };
  });
};

export const getClassList: AdminHandler<"getClassList"> = async ({ db }, { groupId, reach, origin }) => {
  await readGroup(db, reach, groupId);
  return answerRecord(present("ClassList", { endsAt: await accounts.findClassListEnd(db, groupId, origin.at) }));
};

export const endClassList: AdminHandler<"endClassList"> = async (deps, request) => {
  const { groupId, reach, origin } = request;
  const { schoolId } = await readGroup(deps.db, reach, groupId);
  return commitDone(deps, request, (tx) =>
    accounts.endClassListIn(tx, { groupId, schoolId: schoolId as SchoolId }, origin),
  );
};

export const revokePictureCode: AdminHandler<"revokePictureCode"> = (deps, request) =>
  changeWithPerson(deps, request, accounts.revokePictureCodeIn);
