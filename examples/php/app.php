<?php
// Signs people in and receives webhooks; follow.php keeps the copy. Run by `php -S 127.0.0.1:4000 app.php`.
declare(strict_types=1);
require __DIR__ . '/oidc.php';
require __DIR__ . '/copy_of_schools.php';

session_set_cookie_params(['httponly' => true, 'samesite' => 'Lax', 'secure' => str_starts_with(APP_URL, 'https:')]);
$route = $_SERVER['REQUEST_METHOD'] . ' ' . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
try {
    match ($route) {
        'GET /' => showHome(),
        'GET /login' => startSignOn(),
        'GET /callback' => finishSignOn(),
        'POST /logout' => signOut(),
        'POST /backchannel-logout' => endSession(),
        'POST /hook' => receiveWebhook(),
        default => showPage('There is no such page.', 404),
    };
} catch (Throwable $error) {
    // What is refused: an answer with another state, an ID token with a wrong signature, and so on.
    error_log("$route: {$error->getMessage()}");
    showPage('That did not work. <a href="/login">Try again</a>', 400);
}

function showPage(string $body, int $status = 200): void
{
    http_response_code($status);
    header('Cache-Control: no-store');
    echo "<!doctype html><html lang=\"en\"><title>Example</title><main>$body</main></html>";
}

function redirect(string $address, array $query = []): void
{
    header('Location: ' . $address . ($query ? '?' . http_build_query($query) : ''), true, 303);
}

/** The Login URL: a tile opens it with iss and login_hint. */
function startSignOn(): void
{
    if (($_GET['iss'] ?? ISSUER) !== ISSUER) {
        showPage('This app does not know that issuer.', 400);
        return;
    }
    session_start();
    $attempt = array_map(fn () => encodeUrl(random_bytes(32)), ['state' => 0, 'nonce' => 0, 'verifier' => 0]);
    $_SESSION['attempt'] = $attempt;
    redirect(discover()['authorization_endpoint'], [
        'response_type' => 'code',
        'client_id' => CLIENT_ID,
        'redirect_uri' => APP_URL . '/callback',
        'scope' => 'openid profile',
        'state' => $attempt['state'],
        'nonce' => $attempt['nonce'],
        'code_challenge' => encodeUrl(hash('sha256', $attempt['verifier'], true)),
        'code_challenge_method' => 'S256',
    ] + (isset($_GET['login_hint']) ? ['login_hint' => $_GET['login_hint']] : []));
}

function finishSignOn(): void
{
    session_start();
    $attempt = $_SESSION['attempt'] ?? throw new RuntimeException('This browser began no sign-on.');
    unset($_SESSION['attempt']);
    if (!hash_equals($attempt['state'], $_GET['state'] ?? '')) throw new RuntimeException('The state is another one.');
    if (($_GET['iss'] ?? null) !== ISSUER) throw new RuntimeException('The answer comes from another issuer.');
    $tokens = askForToken([
        'grant_type' => 'authorization_code',
        'code' => $_GET['code'] ?? throw new RuntimeException($_GET['error'] ?? 'There is no code.'),
        'redirect_uri' => APP_URL . '/callback',
        'code_verifier' => $attempt['verifier'],
    ]);
    $claims = verifyToken($tokens['id_token']);
    if (!hash_equals($attempt['nonce'], $claims['nonce'] ?? '')) throw new RuntimeException('The nonce is another one.');
    session_regenerate_id(true);
    $_SESSION['person'] = ['idToken' => $tokens['id_token']] + $claims;
    redirect('/');
}

function signOut(): void
{
    session_start();
    $person = $_SESSION['person'] ?? null;
    session_destroy();
    $back = $person ? ['id_token_hint' => $person['idToken'], 'post_logout_redirect_uri' => APP_URL . '/'] : [];
    redirect(discover()['end_session_endpoint'], $back);
}

/** The service says that a session has ended elsewhere; its sid is kept, and may go when no session is as old. */
function endSession(): void
{
    $claims = verifyToken($_POST['logout_token'] ?? '');
    $isLogout = $claims['typ'] === 'logout+jwt' && isset($claims['events'][BACKCHANNEL_LOGOUT], $claims['sid']);
    if (!$isLogout || isset($claims['nonce'])) throw new RuntimeException('This is no logout token.');
    @mkdir(DATABASE . '.ended');
    touch(DATABASE . '.ended/' . hash('sha256', $claims['sid']));
}

function receiveWebhook(): void
{
    // The raw bytes: JSON that is decoded and encoded again has another signature.
    $isGenuine = isGenuine((string) file_get_contents('php://input'));
    // follow.php reads in the feed what changed, in order, and each once.
    if ($isGenuine) touch(DATABASE . '.changed');
    http_response_code($isGenuine ? 204 : 401);
}

/** Compares the signature (Standard Webhooks), and refuses one of more than five minutes ago. */
function isGenuine(string $body): bool
{
    $signedAt = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!ctype_digit($signedAt) || abs(time() - (int) $signedAt) > 300) return false;
    $signed = ($_SERVER['HTTP_WEBHOOK_ID'] ?? '') . ".$signedAt.$body";
    foreach (WEBHOOK_SECRETS as $secret) {
        $key = base64_decode(substr($secret, strlen('whsec_')));
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
        foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $given) {
            if (hash_equals($expected, $given)) return true;
        }
    }
    return false;
}

function showHome(): void
{
    session_start();
    $person = $_SESSION['person'] ?? null;
    if ($person === null || file_exists(DATABASE . '.ended/' . hash('sha256', $person['sid']))) {
        showPage('<a href="/login">Sign in</a>');
        return;
    }
    $records = readCopy()['records'];
    $groups = array_map(fn ($id) => $records["group $id"]['name'] ?? null, $records["person $person[sub]"]['groups'] ?? []);
    $shown = htmlspecialchars(implode(', ', array_filter($groups)) ?: 'none');
    $name = htmlspecialchars($person['given_name'] ?? 'somebody without a name');
    $signOut = '<form method="post" action="/logout"><button>Sign out</button></form>';
    showPage("<p>Hello $name! Groups: $shown</p>$signOut");
}
