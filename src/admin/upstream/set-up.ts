import { listGroups } from "../../directory/index.ts";
import { present } from "../present.ts";
import { storeOf } from "../../platform/database/db.ts";
import { AppError } from "../../platform/errors.ts";
import * as upstream from "../../upstream/index.ts";
import type { SetUpLinkId, TestedSignIn } from "../../upstream/index.ts";
import { answerRecord, commitCreated, commitDone } from "../change.ts";
import type { AdminHandler } from "../handler.ts";
import { setUpPath } from "../set-up.ts";
import { getReachedConnection } from "./connection-record.ts";

export const previewUpstreamRule: AdminHandler<"previewUpstreamRule"> = async (deps, request) => {
  const { id, ...present } = await getReachedConnection(deps.db, request);
  const { ruleClaim, ruleField, normalisations, groupIds } = { ...present, ...request.body };
  const rule = { ruleClaim, ruleField, normalisations };
  const { roster, signIns, refusals } = await upstream.previewRule(
    deps.db,
    { connectionId: id, rule, groupIds, at: request.origin.at },
    deps.webhookKeys,
  );
  return { status: 200, body: { roster, signIns, refusals } };
};

/** All classes of a school fit in this. */
const mostClasses = 500;

const presentTest = ({ match, ...tested }: TestedSignIn) =>
  present("UpstreamTest", {
    ...tested,
    refusal: match.kind === "one" ? "NONE" : match.code,
    matches: match.kind === "one" ? 1 : match.matches,
    name: match.kind === "one" ? match.name : null,
  });

export const getUpstreamSetUp: AdminHandler<"getUpstreamSetUp"> = async ({ db, webhookKeys }, request) => {
  const { caller } = request;
  const { schoolId, profile, groupIds, ...rule } = await getReachedConnection(db, request);
  const classes = await listGroups(storeOf(db), { schoolId, withDeleted: false, type: "KLASSE", limit: mostClasses });
  const { people } = await upstream.countKeys(storeOf(db), { schoolId, groupIds, rule });
  const tested = caller.setUp && (await upstream.findTestedSignIn(db, caller.setUp.setUpLinkId, webhookKeys));
  const body = present("UpstreamSetUp", {
    classes,
    people,
    ruleClaims: upstream.profiles[profile].ruleClaims,
    expiresAt: caller.setUp?.expiresAt ?? null,
    test: tested ? presentTest(tested) : null,
  });
  return answerRecord(body);
};

export const createSetUpLink: AdminHandler<"createSetUpLink"> = (deps, request) =>
  commitCreated(deps, request, async (tx) => {
    const { days } = request.body;
    const { id: connectionId } = await getReachedConnection(tx, request);
    const { id, token, expiresAt } = await upstream.createSetUpLinkIn(tx, { connectionId, days }, request.origin);
    const url = new URL(`${setUpPath}/${token}`, deps.issuerUrl).href;
    const body = present("CreatedSetUpLink", { id, url, expiresAt });
    const recorded = { setUpLinkId: id, expiresAt: body.expiresAt };
    return { body, location: `${request.address}/${id}`, recorded };
  });

export const listSetUpLinks: AdminHandler<"listSetUpLinks"> = async (deps, request) => {
  const { page } = request;
  const { id: connectionId } = await getReachedConnection(deps.db, request);
  return page.answerFrom(await upstream.listSetUpLinks(deps.db, connectionId, request.origin.at), (link) =>
    present("UpstreamSetUpLink", link),
  );
};

export const revokeSetUpLink: AdminHandler<"revokeSetUpLink"> = (deps, request) =>
  commitDone(deps, request, async (tx) => {
    const { id: connectionId } = await getReachedConnection(tx, request);
    const id = request.setUpLinkId as SetUpLinkId;
    if ((await tx.prisma.upstreamSetUpLink.count({ where: { id, connectionId } })) === 0)
      throw new AppError("not_found", "set_up_link_not_found", "The set-up link is not open.");
    await upstream.closeSetUpLinkIn(tx, id, request.origin);
  });
