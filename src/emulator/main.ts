import process from 'node:process'
import { parseArgs } from 'node:util'
import { documentedLimits, startEmulator } from './index.ts'

const usage = `usage: emulator [OPTION…]    starts emulated upstreams, and prints their addresses and keys
  --port N                    the port to listen on; default 0, a free one
  --host ADDRESS              the address to listen on; default: loopback only
  --account N                 number of the account, 0 to 599, by which its ids differ from those of other emulators;
                              default: a random one
  --processing-ms N           time that an asset is processed
  --limits documented|JSON    rate limits: the vendor's, or calls per second by action; default: none
  --face-url URL              base address of the pages of face checks, which a phone can reach
  --text-ms-per-token N       pause between the pieces of a stream; default 30
  --video-ms N                time that a video takes; default 10000`

try {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      host: { type: 'string' },
      account: { type: 'string' },
      'processing-ms': { type: 'string' },
      limits: { type: 'string' },
      'face-url': { type: 'string' },
      // Slow enough that the reader sees the stream arrive piece by piece.
      'text-ms-per-token': { type: 'string', default: '30' },
      'video-ms': { type: 'string', default: '10000' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) {
    console.log(usage)
    process.exit()
  }
  const processing = values['processing-ms']
  const { origin, rest, ark, text, video, stop } = await startEmulator({
    port: Number(values.port),
    host: values.host,
    account: Number(values.account ?? Math.floor(600 * Math.random())),
    processingMs: processing === undefined ? undefined : Number(processing),
    faceUrl: values['face-url'],
    limits: values.limits === 'documented' ? documentedLimits : JSON.parse(values.limits ?? '{}'),
    text: { msPerDelta: Number(values['text-ms-per-token']) },
    video: { runningMs: Number(values['video-ms']) },
  })
  console.log(`emulator listening on ${origin}`)
  console.log(`
# settings of a gateway for the rest API
MEDIA_UPSTREAM_KIND=rest
MEDIA_UPSTREAM_URL=${rest.url}
MEDIA_UPSTREAM_KEY=${rest.key}

# settings of a gateway for the ark API
MEDIA_UPSTREAM_KIND=ark
MEDIA_UPSTREAM_URL=${ark.url}
MEDIA_UPSTREAM_ACCESS_KEY=${ark.accessKey}
MEDIA_UPSTREAM_SECRET_KEY=${ark.secretKey}
MEDIA_UPSTREAM_REGION=${ark.region}
MEDIA_UPSTREAM_PROJECT=${ark.project}

# settings for text generation, in addition to either
TEXT_UPSTREAM_URL=${text.url}
TEXT_UPSTREAM_KEY=${text.key}

# or a server that knows chat completions only
TEXT_UPSTREAM_URL=${text.chatOnlyUrl}
TEXT_UPSTREAM_KEY=${text.key}

# settings for video generation, in addition to either
VIDEO_UPSTREAM_URL=${video.url}
VIDEO_UPSTREAM_KEY=${video.key}`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stop().then(() => process.exit(0)))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  console.error(usage)
  process.exitCode = 2
}
