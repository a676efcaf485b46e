import { type ChildProcess, spawn } from 'node:child_process'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

const requests = 20_000
const parallel = 32

/** CPU time of the gateway's process a detail request that is proxied, behind the runtime's own server and behind the front that delivers bodies of GET. */
export const front = async (): Promise<void> => {
  const upstream = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(answer)
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const rows: Record<string, number[]> = { native: [], front: [] }
  for (let round = 0; round < 3; round++) {
    for (const kind of ['native', 'front']) rows[kind]?.push(await measure(kind, upstreamUrl))
  }
  for (const [kind, figures] of Object.entries(rows)) {
    console.log(
      `${kind.padEnd(8)} ${figures.map((figure) => figure.toFixed(1).padStart(7)).join(' ')}  µs CPU a request`,
    )
  }
  upstream.closeAllConnections()
  upstream.close()
}

const answer = JSON.stringify({
  Result: {
    Id: 'asset-1',
    GroupId: 'group-1',
    Name: 'one',
    Status: 'Active',
    URL: `https://e.example/${'x'.repeat(400)}`,
  },
})

const measure = async (kind: string, upstreamUrl: string): Promise<number> => {
  const child = spawn(process.execPath, [new URL('./front-server.ts', import.meta.url).pathname, kind, upstreamUrl], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const url = await firstLine(child)
    const agent = new Agent({ keepAlive: true, maxSockets: parallel })
    const path = '/api/media/proxy/assets/asset-1'
    await many(2_000, () => ask(agent, url + path))
    const before = Number(await ask(agent, `${url}/cpu`))
    await many(requests, () => ask(agent, url + path))
    const after = Number(await ask(agent, `${url}/cpu`))
    agent.destroy()
    return (after - before) / requests
  } finally {
    child.kill()
  }
}

const firstLine = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => child.stdout?.once('data', (chunk: Buffer) => resolve(String(chunk).trim())))

const many = async (count: number, act: () => Promise<unknown>): Promise<void> => {
  let left = count
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      while (left-- > 0) await act()
    }),
  )
}

const ask = (agent: Agent, url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { agent, headers: { authorization: 'Bearer sk-0123456789', accept: '*/*' } },
      (incoming) => {
        let text = ''
        incoming.on('data', (chunk) => {
          text += chunk
        })
        incoming.on('end', () => resolve(text))
      },
    )
    outgoing.on('error', reject)
    outgoing.end()
  })
