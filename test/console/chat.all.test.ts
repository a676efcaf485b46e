/** Runs with `--all`: a browser chats, and reads the screen after each answer. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { describeWithBrowser, login, openBrowser, visit } from './browser.ts'
import { type MediaFixture, openMediaFixture, png } from './media-fixture.ts'

setDefaultTimeout(300_000)

interface Asked {
  readonly model: string
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly temperature?: number
  readonly max_tokens?: number
}

/** Answers every question with a text, character by character, and keeps the requests. */
const answerWith = async (page: Page, answer: () => string): Promise<Asked[]> => {
  const asked: Asked[] = []
  await page.route('**/v1/chat/completions', async (route) => {
    asked.push(route.request().postDataJSON())
    const deltas = [...answer()].map((content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`)
    const usage = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 2, completion_tokens: 3 } })}\n\n`
    await route.fulfill({ contentType: 'text/event-stream', body: `${deltas.join('')}${usage}data: [DONE]\n\n` })
  })
  return asked
}

const openChat = async (page: Page, { url }: MediaFixture) => {
  await login(page)
  await page.goto(`${url}/console#/chat`)
  await page.getByRole('option', { name: 'emulated-wide' }).waitFor({ state: 'attached' })
}

const ask = async (page: Page, question: string, answers = 1) => {
  await page.getByRole('textbox', { name: 'Question' }).last().fill(question)
  await page.getByRole('button', { name: 'Send' }).click()
  await page
    .getByText('3 tokens out')
    .nth(answers - 1)
    .waitFor()
}

describeWithBrowser('a chat', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  test('shows Markdown as elements, and hostile Markdown as text', async () => {
    await using fixture = await openMediaFixture()
    await using visiting = await visit(browser, fixture)
    const { page, errors, hosts } = visiting
    const answer = [
      '## Ports',
      '| a | b |\n|---|--:|\n| 1 | **2** |',
      '1. one\n2. two\n   - nested',
      '```js\nlet x = 1 < 2\n```',
      '<script>window.hacked = 1</script>',
      '<img src=x onerror="window.hacked = 1">',
      '[run](javascript:window.hacked=1) [data](data:text/html,x) [good](https://example.com/a) ![spy](https://spy.example/a.png)',
      '[odd](  java\nscript:alert(1)) <javascript:alert(1)> [rel](/api/session)',
      `${'> '.repeat(3_000)}deep`,
      `${Array.from({ length: 500 }, (_, depth) => `${' '.repeat(2 * Math.min(depth, 40))}- x`).join('\n')}`,
      `|${'h|'.repeat(60)}\n|${'-|'.repeat(60)}\n${`|${'c|'.repeat(60)}\n`.repeat(400)}`,
      `${'a'.repeat(20_000)}@`,
      'The end &amp; &lt;done&gt;.',
    ].join('\n\n')
    await answerWith(page, () => answer)
    await openChat(page, fixture)
    await ask(page, 'Hello')
    const markdown = page.locator('.markdown')
    await markdown.getByText('The end & <done>.').waitFor()
    expect(await markdown.getByRole('heading', { name: 'Ports' }).count()).toBe(1)
    expect(await markdown.locator('table').first().locator('td.right strong').textContent()).toBe('2')
    expect(await markdown.locator('ol > li ul > li').first().textContent()).toContain('nested')
    expect(await markdown.locator('.code-block code').first().textContent()).toBe('let x = 1 < 2')
    await markdown.getByText('<script>window.hacked = 1</script>').waitFor()
    expect(await markdown.locator('script, img, iframe, style').count()).toBe(0)
    const links = await markdown.locator('a').evaluateAll((all) => all.map((link) => link.getAttribute('href')))
    expect(links).toEqual(['https://example.com/a', 'https://spy.example/a.png'])
    expect(await page.evaluate('window.hacked')).toBeUndefined()
    expect([...hosts]).toEqual([])
    // Bounds on what is shown of it.
    expect(await markdown.locator('*').count()).toBeLessThan(20_000)
    expect(errors).toEqual([])
  })

  test('follows the answer, also after a long question, until the user scrolls up', async () => {
    await using fixture = await openMediaFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await answerWith(page, () => Array.from({ length: 80 }, (_, line) => `Line ${line}`).join('\n\n'))
    await openChat(page, fixture)
    await ask(page, 'A long question. '.repeat(500))
    const distance = () => page.evaluate<number>('document.documentElement.scrollHeight - scrollY - innerHeight')
    expect(await distance()).toBeLessThan(5)
    await page.getByRole('button', { name: 'Show all' }).waitFor()
    await page.evaluate('scrollTo(0, 0)')
    await page.getByRole('button', { name: 'To the end' }).click()
    expect(await distance()).toBeLessThan(5)
  })

  test('renders an answer of 6,000 deltas a few times, and only its last block', async () => {
    await using fixture = await openMediaFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    const paragraphs = Array.from({ length: 120 }, (_, nth) => `Paragraph ${nth} with **bold** text.`)
    const text = paragraphs.join('\n\n')
    await answerWith(page, () => text.padEnd(6_000, '.'))
    await openChat(page, fixture)
    await page.evaluate(`(() => {
      window.added = 0
      new MutationObserver((changes) => {
        for (const { addedNodes } of changes) for (const node of addedNodes) if (node instanceof Element) window.added += 1 + node.querySelectorAll('*').length
      }).observe(document.querySelector('main'), { childList: true, subtree: true })
    })()`)
    await ask(page, 'Hello')
    expect(await page.locator('.markdown p').count()).toBe(120)
    // Each paragraph and its bold text once, and the last ones again.
    expect(await page.evaluate<number>('window.added')).toBeLessThan(1_500)
    // What is far from the view is in the page, but not laid out.
    const isLaidOut = (part: 'first' | 'last') =>
      page
        .locator('.markdown p')
        [part]()
        .evaluate((one) => one.checkVisibility({ contentVisibilityAuto: true }))
    expect([await isLaidOut('first'), await isLaidOut('last')]).toEqual([false, true])
    await page.locator('.markdown p').first().scrollIntoViewIfNeeded()
    while (!(await isLaidOut('first'))) await Bun.sleep(20)
  })

  test('reads an answer no more often than it shows it, and stops at once', async () => {
    await using fixture = await openMediaFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await openChat(page, fixture)
    // An answer without an end, of which each read gets a delta.
    await page.evaluate(`(() => {
      window.reads = 0
      const { fetch } = window
      window.fetch = async (path, { signal, ...options }) => {
        if (!String(path).endsWith('/chat/completions')) return fetch(path, { signal, ...options })
        const body = new ReadableStream({
          start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
          pull: (controller) => {
            const delta = { content: 'word' + ++window.reads + ' ' }
            controller.enqueue(new TextEncoder().encode('data: ' + JSON.stringify({ choices: [{ delta }] }) + '\\n\\n'))
          },
        }, { highWaterMark: 0 })
        return new Response(body)
      }
    })()`)
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 60_000)
    await page.getByRole('textbox', { name: 'Question' }).last().fill('Go')
    await page.getByRole('button', { name: 'Send' }).click()
    const reads = () => page.evaluate<number>('window.reads')
    for (const shown of [1, 2, 3]) {
      while ((await reads()) < shown) await Bun.sleep(20)
      // Without the pause, the page would read on.
      for (let turn = 0; turn < 5; turn++) expect(await reads()).toBe(shown)
      await page.clock.runFor(50)
      await page.locator('.markdown').getByText(`word${shown}`).waitFor()
    }
    // The clock stands still: no pause has to end first.
    await page.getByRole('button', { name: 'Stop the answer' }).click()
    await page.getByText('You stopped this answer.').waitFor()
  })

  test('has a system prompt and settings, regenerates, edits, and stops', async () => {
    await using fixture = await openMediaFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    let count = 0
    const asked = await answerWith(page, () => `Answer ${++count}`)
    await openChat(page, fixture)
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByLabel('System prompt').fill('Be brief.')
    await page.getByLabel('Temperature').fill('0.3')
    await page.getByLabel('Maximum number of tokens').fill('50')
    await page.getByRole('button', { name: 'Save' }).click()
    await ask(page, 'First')
    expect(asked[0]).toMatchObject({ temperature: 0.3, max_tokens: 50 })
    expect(asked[0]?.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'First' },
    ])
    await page.getByRole('button', { name: 'Regenerate' }).click()
    await page.getByText('Answer 2').waitFor()
    expect(await page.getByText('Answer 1').count()).toBe(0)
    await ask(page, 'Second', 2)
    await page.getByRole('button', { name: 'Edit' }).first().click()
    await page.locator('.turn.user textarea').fill('Changed')
    await page.getByRole('button', { name: 'Ask again' }).click()
    await page.getByText('Answer 4').waitFor()
    expect(await page.locator('.turn').count()).toBe(2)
    expect(asked.at(-1)?.messages.slice(1)).toEqual([{ role: 'user', content: 'Changed' }])
    await page.route('**/v1/chat/completions', () => {})
    await page.getByRole('button', { name: 'Regenerate' }).click()
    await page.getByRole('button', { name: 'Stop the answer' }).click()
    await page.getByText('You stopped this answer.').waitFor()
  })

  test('takes pictures of this device and of the library', async () => {
    await using fixture = await openMediaFixture()
    const group = await fixture.addGroup('holidays')
    const { id } = fixture.emulator.library.addAsset({ groupId: group, name: 'beach' })
    await using visiting = await visit(browser, fixture)
    const { page, errors } = visiting
    const asked = await answerWith(page, () => 'Nice')
    await openChat(page, fixture)
    await page.locator('.composer input[type=file]').setInputFiles([
      { name: 'small.png', mimeType: 'image/png', buffer: png },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no picture') },
    ])
    await page.locator('.composer').getByText('small.png').waitFor()
    expect(await page.locator('.composer').getByText('notes.txt').count()).toBe(0)
    await page.getByRole('button', { name: 'Add one of your assets' }).click()
    await page.getByRole('checkbox', { name: 'beach' }).check()
    await page.getByRole('button', { name: 'Use', exact: true }).click()
    await ask(page, 'What is this?')
    expect(asked[0]?.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: `data:image/png;base64,${png.toString('base64')}` } },
          { type: 'image_url', image_url: { url: `asset://${id}` } },
          { type: 'text', text: 'What is this?' },
        ],
      },
    ])
    expect(errors).toEqual([])
  })

  test('is kept in the browser, found by its words, opened by its address, exported and deleted', async () => {
    await using fixture = await openMediaFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await answerWith(page, () => 'An **answer**')
    await openChat(page, fixture)
    await ask(page, 'Where are the ports?')
    const address = page.url()
    expect(address).toMatch(/#\/chat\/\w+$/)
    await page.reload()
    await page.locator('.markdown strong').getByText('answer').waitFor()
    await page.getByRole('button', { name: 'New conversation' }).click()
    await page.getByText('Ask anything').waitFor()
    await page.getByRole('button', { name: 'History' }).click()
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export Where are the ports?' }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toBe('Where-are-the-ports-.md')
    expect(await readFile(await download.path(), 'utf8')).toContain('An **answer**')
    await page.getByRole('dialog').getByLabel('Find a conversation').fill('answers')
    await page.getByText('No question and no answer contains this').waitFor()
    expect(await page.getByRole('link', { name: 'Where are the ports?' }).count()).toBe(0)
    await page.getByRole('dialog').getByLabel('Find a conversation').fill('aN **answer')
    await page.getByRole('link', { name: 'Where are the ports?' }).click()
    await page.locator('.markdown strong').getByText('answer').waitFor()
    await page.getByRole('button', { name: 'History' }).click()
    await page.getByRole('button', { name: 'Delete all conversations' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete all conversations' }).click()
    await page.getByText('Ask anything').waitFor()
    await page.goto('about:blank')
    await page.goto(address)
    await page.getByText('This conversation is not in this browser').waitFor()
  })

  test('sends a question that was asked before the models were known', async () => {
    await using fixture = await openMediaFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    const asked = Promise.withResolvers<void>()
    await page.route('**/v1/models', async (route) => {
      await asked.promise
      await route.continue()
    })
    await answerWith(page, () => 'Early')
    await login(page)
    await page.goto(`${fixture.url}/console#/chat`)
    await page.getByLabel('Question').fill('Hello')
    await page.keyboard.press('Enter')
    asked.resolve()
    await page.locator('.markdown').getByText('Early').waitFor()
  })

  test('offers only models that chat', async () => {
    await using fixture = await openMediaFixture()
    await using visiting = await visit(browser, fixture)
    const { page } = visiting
    await page.route('**/v1/models', (route) =>
      route.fulfill({
        json: {
          data: [
            { id: 'text-embedding-3-small' },
            { id: 'doubao-seedance-2-0' },
            { id: 'emulated-wide' },
            { id: 'painter', architecture: { output_modalities: ['image'] } },
            { id: 'my-embedding-helper', architecture: { output_modalities: ['text'] } },
          ],
        },
      }),
    )
    await openChat(page, fixture)
    expect(await page.getByLabel('Model').locator('option').allTextContents()).toEqual([
      'emulated-wide',
      'my-embedding-helper',
    ])
  })
})
