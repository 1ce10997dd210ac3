/*
 * sign-on pages: what a person sees between the app's login button and the way back.
 *
 * Nouns: model (all that a page says, typed), page (status, html, headers).
 * Invariants: one function a page, pure; no page says whether an account exists; what an app asks for is said
 *   in a sentence for every scope; every form carries a token against forged requests.
 * Never knows: oidc-provider, the database, requests.
 */
export { checkCsrfToken, makeCsrfToken } from "./csrf.ts";
export type * from "./models.ts";
export {
  renderCardPage,
  renderCardProblemPage,
  renderChooseSchoolPage,
  renderConsentPage,
  renderErrorPage,
  renderLoggedOutPage,
  renderLoginPage,
  renderLogoutConfirmPage,
  renderNewPasswordPage,
  renderNoOwnPasswordPage,
  renderRecoveryCodesPage,
  renderPasskeyPage,
  renderRefusalPage,
  renderSecondFactorPage,
  renderSecondFactorsPage,
  renderSetUpNeededPage,
  renderSignedInPage,
  renderSwitchUserPage,
  renderTotpPage,
  renderWaitingPage,
} from "./render.ts";
