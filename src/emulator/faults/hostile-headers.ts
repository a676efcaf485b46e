/**
 * Response headers that control a reverse proxy or a browser, set cookies, or disclose the account. A gateway must not
 * forward them.
 */
export const hostileHeaders: Readonly<Record<string, string | string[]>> = {
  authorization: 'Bearer of-another-account',
  'x-accel-redirect': '/internal/everything',
  'x-accel-buffering': 'yes',
  'x-sendfile': '/etc/passwd',
  refresh: '0; url=https://hostile.example/',
  link: '<https://hostile.example/x.js>; rel=preload; as=script',
  'x-account-id': 'account-4711',
  'set-cookie': ['session=planted; Path=/', 'other=planted; Path=/; HttpOnly'],
  'content-disposition': 'attachment; filename="run.exe"',
  'content-security-policy': 'default-src * data:; script-src *',
  'access-control-allow-origin': 'https://hostile.example',
  'access-control-allow-credentials': 'true',
  'clear-site-data': '"*"',
  'service-worker-allowed': '/',
  'www-authenticate': 'Basic realm="upstream"',
  'strict-transport-security': 'max-age=0',
  'alt-svc': 'h2="hostile.example:443"',
}

/** An HTML page that runs a script if a browser renders it. */
export const hostilePage = '<!doctype html><title>upstream</title><script>document.title = "hostile"</script>'
