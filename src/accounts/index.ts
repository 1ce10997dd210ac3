/*
 * accounts: identifies a person at sign-in.
 *
 * Nouns:      credential (user name and password hash), login card, second factor, recovery code, block, pseudonym,
 *             logout notice (an app must be told that a session ended), generation (a number of the credential;
 *             raising it voids earlier sign-ins), rate limit (counted failed tries at one account), bucket (the tries
 *             left to an address or a device), known device (from which the person signed in before).
 * Invariants: passwords, cards and recovery codes are stored as hashes, secrets of authenticator apps encrypted; a
 *             new password, a block, a deletion and a sign-out by staff void all earlier sign-ins; revoking a login
 *             card voids the sign-ins made with it; tries are counted before they are compared; an unknown user name
 *             and a wrong password give the same result after the same work; tries elsewhere never slow down a person
 *             at a known device.
 * Never knows: OAuth, oidc-provider, requests, pages.
 */
export { isCardGrade } from "./cards/allowed.ts";
export {
  closeBatchIn,
  createBatchIn,
  deleteBatch,
  getBatch,
  listBatches,
  mostInBatch,
  openHandedOut,
  openPrepared,
} from "./batches/batch.ts";
export type { BatchId, BatchWishes, CountedBatch } from "./batches/batch.ts";
export { makeCredentialJob } from "./batches/prepare.ts";
export {
  classListPath,
  classListsOf,
  createClassListIn,
  endClassListIn,
  enterClassCode,
  findClassListEnd,
  findOpenClassList,
  isClassTooLarge,
  makeClassCodeMaker,
  mostListed,
  signInFromList,
} from "./cards/class-list.ts";
export type { ListedPupil, ListOfPupil, MakeClassCode, OpenClassList } from "./cards/class-list.ts";
export {
  choosePictures,
  codeLength,
  codePictures,
  findPictureCode,
  isCodePicture,
  isPictureCode,
  revokePictureCodeIn,
  tryPictures,
} from "./cards/picture-code.ts";
export type { CodePicture } from "./cards/picture-code.ts";
export { lastCardOf, listCards, readLastCard, revokeCardsIn } from "./cards/cards.ts";
export type { CardId, LastCard, LastCardRow } from "./cards/cards.ts";
export { cardPath, isCardToken, makeCardMaker, type MadeCard, type MakeCard } from "./cards/make-card.ts";
export { findParentLetter, putParentLetter, readCardSettings, writeCardSettings } from "./cards/settings.ts";
export { findCardPlaces, type CardPlace, type PlaceFilter } from "./cards/places.ts";
export { keepPrint, makeCardSweep, printUnknown, takePrint } from "./cards/print.ts";
export type { CardHours, CardSecondStep, CardSettings } from "./cards/settings.ts";
export { checkAnswer, checkCard, checkCardUse, isOfStaff, recordCardUse, type UsableCard } from "./cards/use-card.ts";
export { type PasswordFault, changePassword, findOwnPassword, findPasswordRule } from "./own-password.ts";
export { isCurrent, lockPersonSignIn, makeVoidSignInsJob, forgetPerson } from "./end-sign-ins.ts";
export { findLogin, listUserNames, type UserName } from "./find-login.ts";
export { makeCheckPassword, type PasskeyOffer, type PasswordCheck } from "./login/check-password.ts";
export { foldUsername } from "./login/credential.ts";
export { bucketsOfAddress, countedAddress, makeKeyMaker } from "./login/known-devices.ts";
export { findMayUsePassword, mayUsePasswordOf } from "./login/local-passwords.ts";
export { makePassword } from "./login/make-password.ts";
export { longestTurnSeconds } from "./login/password-queue.ts";
export { hashInTurn, hashPassword, longestPassword } from "./login/password.ts";
export { forgetTriesOf, type Waits, waitsOf, type WrongPasswords, wrongPasswordsOf } from "./login/rate-limits.ts";
export { sweepSignInTraces } from "./login/sweep.ts";
export {
  deleteLogoutNotice,
  leaseLogoutNotices,
  postponeLogoutNotice,
  recordNotices,
  storeNotices,
  toNoticeRows,
} from "./logout-notices.ts";
export type { LogoutNotice, NewNotice } from "./logout-notices.ts";
export { makePasswords, type MadeLogin, type PasswordsFor } from "./make-passwords.ts";
export type { OwnPassword } from "./own-password.ts";
export { requestPasswordIn, withdrawPasswordRequestsIn } from "./password-requests.ts";
export { blockPersonIn, setLoginIn, setPasswordHash, signOutPersonIn, unblockPersonIn } from "./person-sign-in.ts";
export { type PasskeyRule, passkeyRuleOfOwner, type PasskeyState, passkeyStateOf } from "./passkey-rule.ts";
export { makePseudonym } from "./pseudonym.ts";
export { recordAtHome } from "./record-at-home.ts";
export {
  checkCode,
  findTotpStep,
  limitedTry,
  makeTotpAddress,
  makeTotpSecret,
  spellTotpSecret,
  totpPurpose,
} from "./second-factor/check.ts";
export type { SecondFactorCheck } from "./second-factor/check.ts";
export {
  hasPassword,
  hasSecondFactor,
  hasStaffFactor,
  isPasskeyAlone,
  isUpstream,
  passwordAlone,
  passwordAnd,
  withSecondFactor,
} from "./second-factor/methods.ts";
export type { SecondMethod } from "./second-factor/methods.ts";
export { askForAnyPasskey, checkPasskeySignIn } from "./second-factor/passkey-sign-in.ts";
export { askForNewPasskey, askForPasskey, checkPasskey, readNewPasskey } from "./second-factor/passkeys.ts";
export type { BoundPerson, PasskeyQuestion } from "./second-factor/passkeys.ts";
export {
  addSecondFactor,
  declinePasskey,
  hasSecondFactors,
  listSecondFactors,
  removeSecondFactor,
  renameSecondFactor,
  renewRecoveryCodes,
  revokeSecondFactorsIn,
} from "./second-factor/records.ts";
export { type Prepared, lockPeople, prepareForPeople, setSecretsIn } from "./set-secrets.ts";
export type { SecondFactor } from "./second-factor/records.ts";
export { mayStay, sessionRuleOf, type SessionRule } from "./session-rule.ts";
export { findSignInSettings, findSignInSettingsOf, lockSchoolSettings, putSignInSettings } from "./sign-in-settings.ts";
export type { UserNameRule } from "./sign-in-settings.ts";
export { createStaffPerson, makeStaffPassword } from "./person-sign-in.ts";
export { giveUserNames, giveUserNamesAtSchool } from "./user-names/give-names.ts";
