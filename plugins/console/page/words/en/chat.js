/** The words of the chat, in English. `../zh/chat.js` has them in Chinese. */
export const chat = {
  chat: {
    title: 'Chat',
    model: 'Model',
    noModel: 'No model available',
    empty: 'Ask anything',
    emptyHint: 'The answer appears word by word. The conversation stays on this page and is gone when you reload it.',
    you: 'You',
    question: 'Question',
    placeholder: 'Write a message',
    keyboardHint: 'Enter sends the message. Shift and Enter start a new line.',
    send: 'Send',
    stop: 'Stop the answer',
    stopped: 'You stopped this answer.',
    thinking: 'Waiting for the answer.',
    reasoning: 'Reasoning',
    complete: 'The answer is complete',
    clear: 'New conversation',
    usage: (/** @type {string} */ input, /** @type {string} */ output) => `${input} tokens in, ${output} tokens out`,
  },
}
