<?php
// Follows the change feed, every minute and whenever app.php got a webhook. Run by `php follow.php` beside app.php.
declare(strict_types=1);
require __DIR__ . '/oidc.php';
require __DIR__ . '/copy_of_schools.php';

while (true) {
    @unlink(DATABASE . '.changed');
    try {
        follow();
    } catch (Throwable $error) { // The next time brings what this one missed.
        error_log($error->getMessage());
    }
    for ($seconds = 0; $seconds < 60 && !file_exists(DATABASE . '.changed'); $seconds++) {
        sleep(1);
        clearstatcache();
    }
}
