/** Asks for an address again and again, on a thread of its own. Told of one, it answers with the longest wait since it was told last. */
declare const self: Worker

let address = ''
let longest = 0

const probe = async (): Promise<never> => {
  while (true) {
    if (address !== '') {
      const askedAt = performance.now()
      await (await fetch(address)).arrayBuffer()
      longest = Math.max(longest, performance.now() - askedAt)
    }
    await Bun.sleep(2)
  }
}

self.onmessage = ({ data }) => {
  address = data as string
  self.postMessage(longest)
  longest = 0
}
void probe()
