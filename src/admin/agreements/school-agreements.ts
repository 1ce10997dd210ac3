import * as access from "../../access/index.ts";
import type { AppAttribute, GrantKey, WithheldItem } from "../../access/index.ts";
import type { Change } from "../../directory/index.ts";
import { present } from "../present.ts";
import { storeOf, type Store } from "../../platform/database/db.ts";
import { presentReceipt } from "./agreements.ts";
import { answerRecord, changeInDirectory, type PreviewedRequest } from "../change.ts";
import type { AdminDeps, AdminHandler, Schemas } from "../handler.ts";

type SchoolAgreement = Schemas["SchoolAgreement"];

const isAttribute = (item: WithheldItem): item is AppAttribute =>
  (access.appAttributes as readonly string[]).includes(item);

async function read(db: Store, { demandsAgreements }: AdminDeps, key: GrantKey): Promise<SchoolAgreement> {
  const { current, accepted, withheld, ...rest } = await access.findSchoolAgreement(db, key);
  return present("SchoolAgreement", {
    ...rest,
    isDemanded: demandsAgreements,
    current: current ?? undefined,
    accepted: accepted === null ? undefined : await presentReceipt(db, accepted),
    withheldAttributes: withheld.flatMap(({ item, reason, since }) =>
      isAttribute(item) ? [{ attribute: item, reason, since }] : [],
    ),
    withheldScopes: withheld.flatMap(({ item, since }) => (isAttribute(item) ? [] : [{ scope: item, since }])),
  });
}

export const getSchoolAgreement: AdminHandler<"getSchoolAgreement"> = async (deps, request) => {
  const { schoolId, clientId } = request;
  return answerRecord(await read(storeOf(deps.db), deps, { schoolId, clientId }));
};

/** The audit shows of the agreement what the school decided, not the document. */
const recorded = ({ state, accepted, withheldAttributes, withheldScopes }: SchoolAgreement) => ({
  state,
  version: accepted?.version ?? null,
  withheldAttributes: withheldAttributes.map(({ attribute }) => attribute),
  withheldScopes: withheldScopes.map(({ scope }) => scope),
});

const changeAgreement = (
  deps: AdminDeps,
  request: PreviewedRequest & GrantKey,
  work: (change: Change, key: GrantKey) => Promise<unknown>,
) => {
  const { schoolId, clientId } = request;
  const key = { schoolId, clientId };
  return changeInDirectory(deps, request, {
    touch: (change) => access.holdForAgreement(change, key),
    record: (tx) => read(tx, deps, key),
    work: (change) => work(change, key),
    recorded,
  });
};

export const acceptAgreement: AdminHandler<"acceptAgreement"> = (deps, request) => {
  const { agreementId, withheld } = request.body;
  return changeAgreement(deps, request, (change, key) =>
    access.acceptAgreement(change, { ...key, agreementId, withheld }),
  );
};

export const withdrawAgreement: AdminHandler<"withdrawAgreement"> = (deps, request) =>
  changeAgreement(deps, request, access.withdrawAgreement);

export const putWithheldAttributes: AdminHandler<"putWithheldAttributes"> = (deps, request) =>
  changeAgreement(deps, request, (change, key) =>
    access.chooseWithheld(change, { ...key, attributes: request.body.attributes }),
  );
