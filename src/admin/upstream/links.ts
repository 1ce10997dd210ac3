import type { PersonId } from "../../directory/index.ts";
import type { Transaction } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import * as upstream from "../../upstream/index.ts";
import type { ConnectionId, Link, RefusalId } from "../../upstream/index.ts";
import { commitDone, commitSeen } from "../change.ts";
import { present, type AdminHandler } from "../handler.ts";
import { findSchoolNames } from "../names.ts";
import { changeWithPerson } from "../people/logins.ts";
import { getReachedConnection } from "./connection-record.ts";
import { getReachedPerson } from "../reached.ts";

export const listUpstreamLinks: AdminHandler<"listUpstreamLinks"> = async (deps, request) => {
  const { range, answer } = request.page;
  const { id: connectionId } = await getReachedConnection(deps.db, request);
  const links = await upstream.listLinks(deps.db, {
    connectionId,
    limit: range.limit,
    after: range.after as PersonId | undefined,
  });
  return answer(
    links,
    (link) => present("UpstreamLink", link),
    ({ personId }) => personId,
  );
};

const mostOfPerson = 100;

export const listUpstreamLinksOfPerson: AdminHandler<"listUpstreamLinksOfPerson"> = async (deps, request) => {
  const { db } = deps;
  const { personId, reach, page } = request;
  await getReachedPerson(db, reach, personId);
  const links = await upstream.listLinks(db, { personId, limit: mostOfPerson });
  const ids = links.map(({ schoolId }) => schoolId);
  const names = await findSchoolNames(db, ids);
  const presentLink = (link: Link) =>
    present("PersonUpstreamLink", { ...link, schoolName: names.get(link.schoolId) ?? "" });
  return page.answerFrom(links, presentLink, ({ connectionId }) => connectionId);
};

export const revokeUpstreamLink: AdminHandler<"revokeUpstreamLink"> = (deps, request) =>
  changeWithPerson(deps, request, (tx, personId, origin) =>
    upstream.unlinkIn(tx, { connectionId: request.connectionId as ConnectionId, personId }, origin),
  );

export const listUpstreamRefusals: AdminHandler<"listUpstreamRefusals"> = async (deps, request) => {
  const { range, answer } = request.page;
  const { id: connectionId } = await getReachedConnection(deps.db, request);
  const of = {
    connectionId,
    code: request.query.code,
    limit: range.limit,
    after: range.after as RefusalId | undefined,
  };
  return answer(await upstream.listRefusals(deps.db, of, deps.webhookKeys), (refusal) =>
    present("UpstreamRefusal", refusal),
  );
};

async function refuseOthersRefusal({ prisma }: Transaction, where: { id: string; connectionId: string }) {
  if ((await prisma.upstreamRefusal.count({ where })) === 0)
    throw new AppError("not_found", "upstream_refusal_not_found", "This refused sign-in is not on the list any more.");
}

export const withdrawUpstreamRefusal: AdminHandler<"withdrawUpstreamRefusal"> = (deps, request) =>
  commitDone(deps, request, async (tx) => {
    const { id: connectionId } = await getReachedConnection(tx, request);
    await upstream.dismissRefusalIn(tx, { connectionId, id: request.refusalId as RefusalId }, request.origin);
  });

export const setUpstreamLink: AdminHandler<"setUpstreamLink"> = (deps, request) =>
  changeWithPerson(deps, { ...request, personId: request.body.personId }, async (tx, personId, origin) => {
    const { id: connectionId } = await getReachedConnection(tx, request);
    const refusalId = request.refusalId as RefusalId;
    await refuseOthersRefusal(tx, { id: refusalId, connectionId });
    await upstream.linkByHandIn(tx, { refusalId, personId }, { keys: deps.webhookKeys, origin });
  });

export const acceptUpstreamGuests: AdminHandler<"acceptUpstreamGuests"> = (deps, request) =>
  commitSeen(deps, request, async (change) => {
    const { id: connectionId } = await getReachedConnection(change.tx, request);
    const refusalIds = request.body.refusalIds as RefusalId[];
    const personIds = await upstream.acceptGuests(change, { connectionId, refusalIds }, deps.webhookKeys);
    return { status: 200 as const, body: present("UpstreamGuests", { personIds }) };
  });
