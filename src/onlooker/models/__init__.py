"""Request to reply: endpoints, the embedded model, the scripted one. Knows no benchmark."""
