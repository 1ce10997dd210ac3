import { readConfig } from "../../../src/config/index.ts";
import { withPrismaTransaction } from "../../../src/platform/database/db.ts";
import { makeNextKeys, rotateSigningKeysIn } from "../../../src/sign-on/index.ts";
import type { TestService } from "../../support/service.ts";

const { encryptionKeys, lifetimes } = readConfig({ NODE_ENV: "test" });

export async function rotateKeys({ db, clock }: TestService, { isForced = false } = {}): Promise<void> {
  const next = await makeNextKeys(encryptionKeys);
  await withPrismaTransaction(db, (tx) => rotateSigningKeysIn(tx, next, { isForced, ...lifetimes }, { at: clock() }));
}
