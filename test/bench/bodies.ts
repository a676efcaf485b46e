import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openServerFixture } from '../support/server-fixture.ts'
import { worstSmall, worstText } from './worst-bodies.ts'

const rounds = 3

/**
 * Sends the most expensive bodies within the limits to the default server. Measures its CPU time (with its threads) and the longest wait of another client
 * for `/healthz`: this is how long the event loop was blocked. For comparison it measures a bare relay, the minimum on this runtime.
 */
export const bodies = async (): Promise<void> => {
  await using fixture = await openServerFixture()
  const upstream = createServer((incoming, outgoing) => {
    incoming.resume().once('end', () => {
      outgoing.setHeader('content-type', 'application/json')
      outgoing.end(
        '{"id":"x","object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"y"}}],"output":[],"status":"completed"}',
      )
    })
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`
  const relay = Bun.spawn(['bun', new URL('./relay.ts', import.meta.url).pathname, 'bun', upstreamUrl], {
    stdout: 'pipe',
  })
  const relayUrl = await firstLine(relay.stdout)
  const server = await fixture.start({
    TEXT_UPSTREAM_URL: upstreamUrl,
    LOG_LEVEL: 'silent',
  })
  const user = await fixture.addUser('ann')
  const made = await user.at(server).ask('POST', '/assets/groups', { Name: 'mine' })
  const probe = new Worker(new URL('./bodies-probe.ts', import.meta.url))
  const longestWait = (url: string) =>
    new Promise<number>((resolve) => {
      probe.onmessage = ({ data }) => resolve(data as number)
      probe.postMessage(`${url}/healthz`)
    })

  const send = async (url: string, text: string): Promise<number> => {
    const response = await fetch(url, {
      method: 'POST',
      body: text,
      headers: { authorization: `Bearer ${user.token}`, 'content-type': 'application/json' },
    })
    await response.arrayBuffer()
    return response.status
  }

  /** Takes the minimum of the rounds, because other load only increases a figure. */
  const measure = async (name: string, { url, pid }: { url: string; pid: number }, path: string, text: string) => {
    const best = { cpu: Number.POSITIVE_INFINITY, wait: Number.POSITIVE_INFINITY, status: 0 }
    for (let round = 0; round < rounds; round++) {
      await longestWait(url)
      const before = cpuMs(pid)
      best.status = await send(url + path, text)
      best.cpu = Math.min(best.cpu, cpuMs(pid) - before)
      best.wait = Math.min(best.wait, await longestWait(url))
    }
    const size = `${(Buffer.byteLength(text) / 2 ** 20).toFixed(1)} MiB`
    console.log(
      `${name}, ${size}`.padEnd(54),
      String(best.status).padEnd(6),
      String(Math.round(best.cpu)).padStart(6),
      best.wait.toFixed(0).padStart(14),
    )
  }

  console.log('body'.padEnd(54), 'status CPU ms   longest wait ms')
  for (const [all, bytes] of [
    [worstText, 2 ** 26],
    [worstSmall, 2 ** 20],
  ] as const) {
    for (const body of all) {
      const text = body.build(bytes - 64).replace('GROUP', made.json.Result.Id)
      await measure(body.name, server, body.path, text)
      if (body === worstText[0])
        await measure('the same through a bare relay', { url: relayUrl, pid: relay.pid }, '/', text)
    }
  }
  relay.kill()
  probe.terminate()
  upstream.close()
  process.exit(0)
}

const firstLine = async (output: ReadableStream<Uint8Array>): Promise<string> => {
  for await (const chunk of output) return new TextDecoder().decode(chunk).trim()
  return ''
}

/** CPU time of a process in milliseconds. Linux counts it in ticks of 10 ms. */
const cpuMs = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return 10 * (Number(fields[11]) + Number(fields[12]))
}
