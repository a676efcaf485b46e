/**
 * `bun run demo`: starts the emulated upstreams and the gateway, adds a user, and prints commands to paste. Ctrl-C
 * stops everything.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createToken, hashToken, tokenStart } from '../plugins/api-token/index.ts'
import { hashPassword } from '../plugins/web-session/password.ts'
import { environmentVariable, readConfig } from './config.ts'
import { fillLibrary } from './demo/library.ts'
import { addPastUsage, textPrices, videoPrices } from './demo/usage.ts'
import { documentedLimits, startEmulator } from './emulator/index.ts'
import { stopOnSignal } from './server/stop-on-signal.ts'
import { expectNoArguments } from './server/usage.ts'
import { serve } from './server.ts'
import { openStore } from './store/index.ts'

expectNoArguments(`usage: demo    starts the gateway before emulated upstreams, with a temporary database
It has no arguments. The variable PORT is the port of the gateway, 3000 by default. Ctrl-C stops everything.`)

const folder = await mkdtemp(join(tmpdir(), 'sluice-demo-'))
const url = `sqlite:${join(folder, 'demo.db')}`
// Slow enough that the reader sees the stream arrive piece by piece.
const emulator = await startEmulator({ limits: documentedLimits, text: { msPerDelta: 30 } })

const store = openStore(url)
await store.migrate()
const password = randomBytes(9).toString('base64url')
const token = createToken()
const createdAt = Date.now()
const user = (await store.addUser({ name: 'demo', password: await hashPassword(password), createdAt })) ?? ''
const tokenId = await store.addToken({
  user,
  hash: hashToken(token),
  start: tokenStart(token),
  label: 'demo',
  createdAt,
})
await store.changeUser(user, { role: 'admin' }, { now: createdAt })
await store.close()

const videoModel = 'doubao-seedance-2-0-260128'
await addPastUsage({ file: join(folder, 'demo.db'), user, token: tokenId, videoModel, now: createdAt })
const config = readConfig({
  PORT: environmentVariable('PORT'),
  DRAIN_GRACE_SECONDS: '0',
  DATABASE_URL: url,
  MEDIA_UPSTREAM_KIND: 'ark',
  MEDIA_UPSTREAM_URL: emulator.ark.url,
  MEDIA_UPSTREAM_ACCESS_KEY: emulator.ark.accessKey,
  MEDIA_UPSTREAM_SECRET_KEY: emulator.ark.secretKey,
  MEDIA_UPSTREAM_REGION: emulator.ark.region,
  MEDIA_UPSTREAM_PROJECT: emulator.ark.project,
  TEXT_UPSTREAMS: JSON.stringify([
    { url: emulator.text.url, keyEnv: 'TEXT_KEY' },
    // A server that knows chat completions only, for agents that use the Responses API.
    {
      ...{ url: emulator.text.chatOnlyUrl, keyEnv: 'TEXT_KEY', name: 'chat-only' },
      models: [{ id: 'emulated-reasoner', alias: 'chat-only' }],
    },
  ]),
  TEXT_KEY: emulator.text.key,
  TEXT_PRICES: JSON.stringify(textPrices),
  VIDEO_UPSTREAM_URL: emulator.video.url,
  VIDEO_UPSTREAM_KEY: emulator.video.key,
  VIDEO_SLOTS: '{"*":2}',
  VIDEO_MODEL_ALIASES: JSON.stringify({ 'sora-2': videoModel }),
  VIDEO_PRICES: JSON.stringify(videoPrices),
  USER_LIMITS: JSON.stringify([
    { unit: 'tokens', amount: 2_000_000, window: 'day' },
    { unit: 'videos', amount: 50, window: 'day' },
    { unit: 'cost', amount: 500, window: 'month' },
  ]),
  STORAGE_URL: `file:${join(folder, 'storage')}`,
  LOG_LEVEL: 'warn',
})
if ('problems' in config) throw new Error(config.problems.join('\n'))

const cleanUp = async () => {
  await emulator.stop()
  await rm(folder, { recursive: true, force: true })
}
const gateway = await serve(config).catch(async (error: unknown) => {
  await cleanUp()
  console.error(`cannot listen on port ${config.http.port}: ${error instanceof Error ? error.message : error}`)
  process.exit(1)
})
stopOnSignal({ stop: () => gateway.stop().then(cleanUp) })

await fillLibrary({ url: gateway.url, token, videoModel }).catch((error: unknown) => {
  console.error(`the demo has no library: ${error instanceof Error ? error.message : error}`)
})

const library = `${gateway.url}/api/media/proxy`
const picture = fileURLToPath(new URL('../.github/console-assets.png', import.meta.url))
const text = `${gateway.url}/v1`
const model = 'doubao-seed-emulated'
const tasks = `${gateway.url}/api/v3/contents/generations/tasks`
console.log(`The sluice demo listens on ${gateway.url}. Its upstreams are emulated on ${emulator.origin}.

  user      demo
  password  ${password}
  token     ${token}

Paste these commands one by one:

  export TOKEN=${token}
  ask() { curl -sS -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' "$@"; echo; }
  id() { sed 's/.*"Id":"\\([^"]*\\)".*/\\1/'; }

  # Upload a picture, create a group, and an asset of the picture in it. The upstream processes the asset for two seconds.
  UPLOAD=$(curl -sS -H "Authorization: Bearer $TOKEN" --data-binary "@${picture}" ${gateway.url}/api/uploads | sed 's/.*"url":"\\([^"]*\\)".*/\\1/'); echo $UPLOAD
  GROUP=$(ask ${library}/assets/groups -d '{"Name":"holidays"}' | id); echo $GROUP
  ASSET=$(ask ${library}/assets -d '{"GroupId":"'$GROUP'","URL":"'$UPLOAD'","AssetType":"Image","Name":"beach"}' | id); echo $ASSET
  ask ${library}/assets/$ASSET
  sleep 3; ask ${library}/assets/$ASSET

  # Make a video of the asset, watch it, and save it. Two videos run at once; others wait in the queue of the gateway.
  VIDEO=$(ask ${tasks} -d '{"model":"${videoModel}","content":[{"type":"text","text":"Waves on the beach"},{"type":"image_url","role":"reference_image","image_url":{"url":"asset://'$ASSET'"}}]}' | sed 's/.*"id":"\\([^"]*\\)".*/\\1/'); echo $VIDEO
  while ask ${tasks}/$VIDEO | tee task.json | grep -q '"status":"\\(queued\\|running\\)"'; do sleep 1; done; cat task.json
  curl -sS -o video.mp4 "$(sed 's/.*"video_url":"\\([^"]*\\)".*/\\1/' task.json)"; ls -l video.mp4

  # The same video, and a new one, with OpenAI's API.
  ask ${text}/videos/$VIDEO
  ask ${text}/videos -d '{"model":"sora-2","prompt":"Waves","seconds":"4","size":"1280x720"}'
  ask "${text}/videos?limit=2"

  # List assets: the same request with a query string, and with a JSON body on GET.
  ask "${library}/assets?GroupIds=$GROUP&Statuses=Active&PageSize=5"
  ask -X GET ${library}/assets -d '{"Filter":{"GroupIds":["'$GROUP'"],"Statuses":["Active"]},"PageSize":5}'

  # An asset that does not exist gets the same response as an asset of another user.
  ask ${library}/assets/asset-20260101000000-aaaaa

  # Chat completions, without and with streaming. The image is your own asset; other users cannot refer to it.
  ask ${text}/chat/completions -d '{"model":"${model}","messages":[{"role":"user","content":"Hello"}]}'
  ask -N ${text}/chat/completions -d '{"model":"${model}","stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"What is this?"},{"type":"image_url","image_url":{"url":"asset://'$ASSET'"}}]}]}'

  # The Responses API, and the list of models.
  ask ${text}/responses -d '{"model":"${model}","input":"Hello"}'
  ask ${text}/models

  # Codex runs a command. It needs codex itself (npm install -g @openai/codex) and TOKEN, from above, in the environment;
  # no login and no account. With -m chat-only, the upstream knows chat completions only.
  codex exec --skip-git-repo-check -m emulated-reasoner -c model_provider=demo -c 'model_providers.demo={name="demo",base_url="${text}",env_key="TOKEN"}' '<scenario>[{"call":"exec_command","arguments":{"cmd":"ls"}},{"say":"I see: {output}"}]</scenario>'

Open ${gateway.url} and log in as demo with the password ${password}
It is the console, with a small library, a video and two weeks of usage; demo is an admin. A face check opens the emulated
vendor's page on ${emulator.origin}: there you choose its result. API documentation: ${gateway.url}/openapi
Ctrl-C stops everything.`)
